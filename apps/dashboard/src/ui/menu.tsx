'use client';
/** Menus as pages use them. What draws them is loaded when the first one is opened. */
import { cloneElement, lazy, Suspense, useState } from 'react';
import type { MenuChoicesProps, MenuProps } from './menu-parts';

const Panel = lazy(async () => ({ default: (await import('./menu-parts')).MenuPanel }));
const Choices = lazy(async () => ({ default: (await import('./menu-parts')).MenuChoices }));

/** The parts stand inside a `Menu` only: by the time they are shown, they are there. */
export const MenuCheck = lazy(async () => ({ default: (await import('./menu-parts')).MenuCheck }));
export const MenuItem = lazy(async () => ({ default: (await import('./menu-parts')).MenuItem }));
export const MenuLabel = lazy(async () => ({ default: (await import('./menu-parts')).MenuLabel }));
export const MenuLine = lazy(async () => ({ default: (await import('./menu-parts')).MenuLine }));

export function MenuChoices<T extends string>({ value, onChange, choices }: MenuChoicesProps<T>) {
  return <Choices value={value} onChange={(next) => onChange(next as T)} choices={choices} />;
}

export function Menu(props: MenuProps) {
  const [wanted, setWanted] = useState(false);
  const waiting = cloneElement(props.trigger, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onClick: () => setWanted(true),
  });
  if (!wanted) return waiting;
  return (
    <Suspense fallback={waiting}>
      <Panel {...props} />
    </Suspense>
  );
}
