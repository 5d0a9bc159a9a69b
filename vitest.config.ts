import { defineConfig } from 'vitest/config';

/**
 * One configuration for every package. Workspace packages are run from their sources, so nothing has to be built first;
 * the other conditions are Vite's own for a server, but for `module`: what is not inlined is loaded by Node
 * itself, which cannot read builds that are meant for bundlers.
 */
const conditions = ['leasehold-source', 'node', 'development|production'];

export default defineConfig({
  resolve: { conditions, mainFields: ['main'] },
  ssr: { resolve: { conditions, externalConditions: conditions, mainFields: ['main'] } },
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
