/** Plain JavaScript: the server reads it as it starts, in production too. */

// As in server/base-path.ts: one leading slash, none behind, empty for the root.
const parts = (process.env.LEASEHOLD_BASE_PATH ?? '').trim().split('/').filter(Boolean);
const basePath = parts.length === 0 ? '' : `/${parts.join('/')}`;

/** @type {import('next').NextConfig} */
const config = {
  ...(basePath === '' ? {} : { basePath }),
  env: { NEXT_PUBLIC_BASE_PATH: basePath },
  poweredByHeader: false,
  reactStrictMode: true,
  devIndicators: false,
};

export default config;
