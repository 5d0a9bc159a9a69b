'use client';
import { Tooltip } from 'radix-ui';
import type { ReactNode } from 'react';

export function Tip({
  text,
  side = 'top',
  children,
}: {
  text: ReactNode;
  side?: 'top' | 'right' | 'bottom';
  children: ReactNode;
}) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="border-line2 bg-raised text-ink shadow-pop z-50 max-w-80 rounded-md border px-2 py-1 text-xs wrap-anywhere"
        >
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
