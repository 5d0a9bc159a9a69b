'use client';
import { lazy, Suspense, useState } from 'react';
import type { DialogProps } from './dialog-panel';

const Panel = lazy(async () => ({ default: (await import('./dialog-panel')).DialogPanel }));

/** A dialog; what draws it is loaded when the first one opens. */
export function Dialog(props: DialogProps) {
  const [wanted, setWanted] = useState(props.open);
  if (props.open && !wanted) setWanted(true);
  if (!wanted) return null;
  return (
    <Suspense>
      <Panel {...props} />
    </Suspense>
  );
}
