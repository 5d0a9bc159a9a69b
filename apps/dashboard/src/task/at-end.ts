/** So near to the end counts as being there, px: a fraction of a line is no wish to read above. */
const NEAR_PX = 24;

type Scrolled = Pick<Element, 'scrollTop' | 'scrollHeight' | 'clientHeight'>;

export function isAtEnd({ scrollTop, scrollHeight, clientHeight }: Scrolled): boolean {
  return scrollHeight - scrollTop - clientHeight <= NEAR_PX;
}
