/** `/ops/x` from ` ops/x/ `: one leading slash, none behind, empty for the root. */
export function cleanBasePath(given: string | undefined): string {
  const parts = (given ?? '').trim().split('/').filter(Boolean);
  return parts.length === 0 ? '' : `/${parts.join('/')}`;
}

export function apiPrefix(basePath: string): string {
  return `${basePath}/api/`;
}

export function isApi(url: string, prefix: string): boolean {
  return url.startsWith(prefix);
}
