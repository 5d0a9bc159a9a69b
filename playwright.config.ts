import { defineConfig } from '@playwright/test';

/**
 * The browser is Debian's Chromium (`npm test` finds or installs it); nothing is downloaded by Playwright itself. Each
 * worker of Playwright has a stack of its own: a real etcd, the dashboard, and example workers as processes.
 */
const asRoot = process.getuid?.() === 0;

/** What these show depends on how many tasks and which workers there are: each has a stack to itself. */
const ALONE = ['history', 'takeover', 'waiting'] as const;

export default defineConfig({
  testDir: 'apps/dashboard/e2e',
  projects: [
    { name: 'board', testIgnore: ALONE.map((name) => `**/${name}.spec.ts`) },
    ...ALONE.map((name) => ({ name, testMatch: `**/${name}.spec.ts` })),
  ],
  // Two cores: one stack at a time is all that a small machine carries.
  workers: 1,
  fullyParallel: false,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  forbidOnly: process.env['CI'] !== undefined,
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    viewport: { width: 1440, height: 900 },
    trace: 'retain-on-failure',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
      args: [
        ...(asRoot ? ['--no-sandbox'] : []),
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--no-first-run',
      ],
    },
  },
});
