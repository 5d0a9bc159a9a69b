import { defineConfig } from 'vitest/config';

/**
 * One configuration for every package. Workspace packages are run from their sources, so nothing has to be built first;
 * the other conditions are Vite's own for a server.
 */
const conditions = ['leasehold-source', 'module', 'node', 'development|production'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'apps/*/test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/.next/**'],
    globalSetup: ['packages/tooling/vitest/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
});
