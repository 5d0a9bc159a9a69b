/**
 * What is loaded when it is first used is fetched once the page is at rest: a menu or a dialog that is opened while the
 * server is away must be there already, and an action must fail in its own words, not for want of its code.
 */
export function preloadRest(): () => void {
  const timer = setTimeout(() => {
    void Promise.allSettled([
      import('../api/answers'),
      import('../api/old-data-dialog'),
      import('../board/selection-bar'),
      import('../ui/dialog-panel'),
      import('../ui/menu-parts'),
      import('../ui/toast-cards'),
      import('./keyboard-sheet'),
      import('./page-menu'),
      import('./palette'),
      import('./past-gate'),
      import('./zone-list'),
    ]);
  }, REST_MS);
  return () => clearTimeout(timer);
}

const REST_MS = 1_500;
