import type { NextConfig } from 'next';
import { cleanBasePath } from './server/base-path.ts';

const basePath = cleanBasePath(process.env['LEASEHOLD_BASE_PATH']);

const config: NextConfig = {
  ...(basePath === '' ? {} : { basePath }),
  env: { NEXT_PUBLIC_BASE_PATH: basePath },
  poweredByHeader: false,
  reactStrictMode: true,
  devIndicators: false,
};

export default config;
