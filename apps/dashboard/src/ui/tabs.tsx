'use client';
import { Tabs as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

export function Tabs<T extends string>({
  value,
  onChange,
  tabs,
  label,
  children,
}: {
  value: T;
  onChange: (value: T) => void;
  tabs: readonly (readonly [T, string])[];
  label: string;
  children: ReactNode;
}) {
  return (
    <Radix.Root value={value} onValueChange={(next) => onChange(next as T)}>
      <Radix.List aria-label={label} className="border-line flex gap-4 border-b">
        {tabs.map(([tab, text]) => (
          <Radix.Trigger
            key={tab}
            value={tab}
            className="text-ink3 hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink -mb-px border-b-2 border-transparent pt-1 pb-1.5 text-xs font-semibold"
          >
            {text}
          </Radix.Trigger>
        ))}
      </Radix.List>
      <Radix.Content value={value}>{children}</Radix.Content>
    </Radix.Root>
  );
}
