# Two images from one file: `etcd` (a member of the store) and `app` (board, example workers, command line).
#   docker build --target app -t leasehold .

# Debian's own etcd, so that no second registry is needed.
FROM node:20-bookworm-slim AS etcd
RUN apt-get update \
  && apt-get install -y --no-install-recommends etcd-server etcd-client \
  && rm -rf /var/lib/apt/lists/* \
  && mkdir -p /data \
  && chown node:node /data
USER node
ENV ETCDCTL_API=3
VOLUME /data
EXPOSE 2379 2380
ENTRYPOINT ["etcd", "--data-dir=/data/etcd", "--logger=zap", "--log-outputs=stderr", "--quota-backend-bytes=8589934592"]

FROM node:20-bookworm-slim AS build
WORKDIR /app
ENV NEXT_TELEMETRY_DISABLED=1 TURBO_TELEMETRY_DISABLED=1 DO_NOT_TRACK=1 CI=1
COPY . .
# The same bootstrap as `npm start`: it reads the version of pnpm from package.json and installs what the lockfile says.
RUN node packages/tooling/scripts/bootstrap.mjs
ENV PATH=/app/node_modules/.leasehold-bin:/app/node_modules/.bin:$PATH
RUN turbo run build --env-mode=loose
# What runs needs no compiler, no tests and no sources.
RUN cp -r node_modules/.leasehold-bin /tmp/bin \
  && find . -name node_modules -prune -exec rm -rf {} + \
  && PATH=/tmp/bin:$PATH pnpm install --prod --frozen-lockfile --config.confirm-modules-purge=false \
  && rm -rf packages/*/src packages/*/test apps/*/test apps/*/.next/cache .turbo packages/*/.turbo apps/*/.turbo

FROM node:20-bookworm-slim AS app
WORKDIR /app
ENV NODE_ENV=production NEXT_TELEMETRY_DISABLED=1 LEASEHOLD_DATA_DIR=/data
COPY --from=build --chown=node:node /app /app
RUN mkdir -p /data && chown node:node /data
USER node
VOLUME /data
# Shows the command line's help unless it is told what to be; compose tells each service.
ENTRYPOINT ["node"]
CMD ["packages/cli/dist/main.js", "--help"]
