import { readFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * The base path is a setting of the build: Next writes it into every address. A server that is told another one would
 * serve pages that load nothing, so it says so instead.
 */
export async function checkBuilt(appDir: string, basePath: string): Promise<void> {
  const file = path.join(appDir, '.next', 'routes-manifest.json');
  const built = await readFile(file, 'utf8').then(
    (text) => (JSON.parse(text) as { readonly basePath?: string }).basePath ?? '',
    () => null,
  );
  if (built === null)
    throw new Error(`The pages are not built (${file} is not there); run: pnpm --filter @leasehold/dashboard build`);
  if (built === basePath) return;
  const shown = (given: string): string => (given === '' ? '/' : given);
  throw new Error(
    `The pages were built for ${shown(built)}, not for ${shown(basePath)}; build again with LEASEHOLD_BASE_PATH=${shown(basePath)}`,
  );
}
