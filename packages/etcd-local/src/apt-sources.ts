/**
 * Reads the machine's own apt sources, in both formats, so that we ask only mirrors that its owner already chose.
 * Pure: text in, sources out.
 */
export interface AptSource {
  readonly uri: string;
  readonly suite: string;
  readonly components: readonly string[];
  /** A keyring file; embedded keys are dropped, the distribution's keyring is used instead. */
  readonly signedBy: string | undefined;
  /** Options that make a mirror usable at all (a frozen snapshot, an unsigned internal copy) and must be kept. */
  readonly keep: Readonly<Partial<Record<KeptOption, string>>>;
}

type KeptOption = 'trusted' | 'check-valid-until';
const KEPT: readonly KeptOption[] = ['trusted', 'check-valid-until'];

/** One-line format: `deb [signed-by=… arch=…] uri suite component…`. */
export function parseListFormat(text: string): AptSource[] {
  return text.split('\n').flatMap((raw) => {
    const line = raw.replace(/#.*/, '').trim();
    const match = /^deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)\s*(.*)$/.exec(line);
    const [, optionText = '', uri, suite, rest = ''] = match ?? [];
    if (uri === undefined || suite === undefined) return [];
    const options = new Map(
      words(optionText).map((option) => {
        const [name = '', value = ''] = option.split('=', 2);
        return [name.toLowerCase(), value] as const;
      }),
    );
    return [toSource(uri, suite, words(rest), options)];
  });
}

/** deb822 format: stanzas of `Field: value`, continued on indented lines. One stanza can name several URIs and suites. */
export function parseDeb822(text: string): AptSource[] {
  return stanzas(text).flatMap((fields) => {
    if (fields.get('enabled')?.toLowerCase() === 'no') return [];
    if (!words(fields.get('types') ?? '').includes('deb')) return [];
    const components = words(fields.get('components') ?? '');
    return words(fields.get('uris') ?? '').flatMap((uri) =>
      words(fields.get('suites') ?? '').map((suite) => toSource(uri, suite, components, fields)),
    );
  });
}

function stanzas(text: string): Map<string, string>[] {
  const uncommented = text.split('\n').filter((line) => !line.startsWith('#'));
  return uncommented
    .join('\n')
    .split(/\n\s*\n/)
    .map((stanza) => {
      const unfolded = stanza.replace(/\n[ \t]+/g, '\n ').replace(/\n /g, ' ');
      const fields = unfolded.split('\n').flatMap((line) => {
        const colon = line.indexOf(':');
        if (colon < 1) return [];
        return [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const];
      });
      return new Map(fields);
    });
}

function toSource(
  uri: string,
  suite: string,
  components: readonly string[],
  options: ReadonlyMap<string, string>,
): AptSource {
  const signedBy = options.get('signed-by');
  const keep = Object.fromEntries(
    KEPT.flatMap((name) => {
      const value = options.get(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  return {
    uri,
    suite,
    components,
    signedBy: signedBy?.startsWith('/') === true ? signedBy.split(/[\s,]/)[0] : undefined,
    keep,
  };
}

/**
 * The sources that carry the distribution itself: those that offer the machine's own release with a `main` component. Security, updates and
 * third-party sources have other suites or components and fall out by that.
 */
export function distributionSources(sources: readonly AptSource[], codename: string): AptSource[] {
  const own = sources.filter(({ suite, components }) => suite === codename && components.includes('main'));
  const named = own.length > 0 ? own : sources.filter(isRelease);
  const seen = new Set<string>();
  return named.filter(({ uri }) => !seen.has(uri) && seen.add(uri));
}

/** Some machines follow `stable` or `testing` and not a codename. */
function isRelease({ suite, components }: AptSource): boolean {
  return /^(stable|testing|unstable|sid|[a-z]+-rolling)$/.test(suite) && components.includes('main');
}

/** One line for a private sources.list. */
export function sourceLine(
  source: AptSource,
  suite: string,
  components: readonly string[],
  keyring: string | undefined,
): string {
  const options = [
    ...(keyring === undefined ? [] : [`signed-by=${keyring}`]),
    ...Object.entries(source.keep).map(([name, value]) => `${name}=${value}`),
  ];
  const bracket = options.length === 0 ? '' : `[${options.join(' ')}] `;
  return `deb ${bracket}${source.uri} ${suite} ${components.join(' ')}\n`;
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
