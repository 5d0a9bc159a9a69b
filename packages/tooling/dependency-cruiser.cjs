/** The import law. One rule a sentence; `npm run law` checks every import of every package and app. */
const core = '^packages/core/src/';

/** Files of a layer may import only what `to` matches (their own layer included). */
const only = (name, comment, from, allowed) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: '^(packages|apps)/', pathNot: allowed },
});

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Nothing imports itself by a detour.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    only('model-is-pure', 'model imports only model.', `${core}model/`, [`${core}model/`]),
    {
      name: 'model-has-no-io',
      comment: 'model runs in a browser: no Node built-ins.',
      severity: 'error',
      from: { path: `${core}model/` },
      to: { dependencyTypes: ['core'] },
    },
    only('kv-knows-nothing-above', 'kv imports only kv.', `${core}kv/`, [`${core}kv/`]),
    only('runtime-stands-alone', 'runtime imports only runtime and model.', `${core}runtime/`, [
      `${core}runtime/`,
      `${core}model/`,
    ]),
    only(
      'store-on-kv-and-model',
      'store imports model, runtime and the seam; never an adapter of it.',
      `${core}store/`,
      [
        `${core}store/`,
        `${core}model/`,
        `${core}runtime/`,
        `${core}kv/kv\\.ts$`,
        // The keepalive thread has a connection of its own; it is the composition root of that thread.
        `${core}kv/etcd-kv\\.ts$`,
      ],
    ),
    {
      name: 'only-the-thread-connects',
      comment: 'In store, only the keepalive thread opens a connection.',
      severity: 'error',
      from: { path: `${core}store/`, pathNot: `${core}store/keepalive-thread\\.ts$` },
      to: { path: `${core}kv/(etcd|memory)`, dependencyTypesNot: ['type-only'] },
    },
    only('verify-reads', 'verify imports model, store and the seam.', `${core}verify/`, [
      `${core}verify/`,
      `${core}model/`,
      `${core}store/`,
      `${core}runtime/`,
      `${core}kv/kv\\.ts$`,
    ]),
    only('worker-law', 'worker imports model, store and runtime; never leader, never kv.', `${core}worker/`, [
      `${core}worker/`,
      `${core}model/`,
      `${core}store/`,
      `${core}runtime/`,
    ]),
    only('leader-law', 'leader imports model, store and runtime; never worker, never kv.', `${core}leader/`, [
      `${core}leader/`,
      `${core}model/`,
      `${core}store/`,
      `${core}runtime/`,
    ]),
    {
      name: 'etcd3-in-one-file',
      comment: 'etcd3 is imported by one file.',
      severity: 'error',
      from: { pathNot: `${core}kv/etcd-kv\\.ts$|^packages/bench/|/test/` },
      to: { path: 'node_modules/etcd3' },
    },
    {
      name: 'socket-io-client-in-one-file',
      comment: 'The browser speaks socket.io in one file.',
      severity: 'error',
      from: { path: '^apps/dashboard/src/', pathNot: '^apps/dashboard/src/live/socket\\.ts$' },
      to: { path: 'node_modules/socket\\.io-client' },
    },
    {
      name: 'ui-knows-wire-and-model',
      comment: 'UI code imports only wire and core/model.',
      severity: 'error',
      from: { path: '^apps/dashboard/src/' },
      to: { path: '^packages/', pathNot: ['^packages/wire/', '^packages/core/(src|dist)/model/'] },
    },
    {
      name: 'wire-on-model',
      comment: 'wire imports only core/model.',
      severity: 'error',
      from: { path: '^packages/wire/src/' },
      to: { path: '^packages/', pathNot: ['^packages/wire/', '^packages/core/(src|dist)/model/'] },
    },
    {
      name: 'no-app-imports-an-app',
      comment: 'Apps do not know each other.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'no-package-imports-an-app',
      comment: 'Packages do not know apps; the CLI starts them all.',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/cli/' },
      to: { path: '^apps/' },
    },
    {
      name: 'not-to-tests',
      comment: 'Product code does not import tests.',
      severity: 'error',
      from: { path: '^(packages|apps)/[^/]+/(src|server)/' },
      to: { path: '^(packages|apps)/[^/]+/(test|e2e)/' },
    },
    {
      name: 'not-unresolvable',
      severity: 'error',
      from: { pathNot: '/test/|next-env' },
      to: { couldNotResolve: true, pathNot: '^(node:|server-only)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules|/dist/|/\\.next/' },
    exclude: { path: '/dist/|/\\.next/|/\\.leasehold/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      conditionNames: ['leasehold-source', 'import', 'default', 'types'],
      exportsFields: ['exports'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
