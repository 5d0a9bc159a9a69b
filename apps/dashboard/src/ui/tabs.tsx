'use client';
import { Tabs as Radix } from 'radix-ui';

export function Tabs<T extends string>({
  value,
  onChange,
  tabs,
  label,
}: {
  value: T;
  onChange: (value: T) => void;
  tabs: readonly (readonly [T, string])[];
  label: string;
}) {
  return (
    <Radix.Root value={value} onValueChange={(next) => onChange(next as T)}>
      <Radix.List aria-label={label} className="border-line flex gap-4 border-b">
        {tabs.map(([tab, text]) => (
          <Radix.Trigger
            key={tab}
            value={tab}
            // The panel is the page's own: Radix would point at one that is not there.
            aria-controls={undefined}
            className="text-ink3 hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink -mb-px border-b-2 border-transparent pt-1 pb-1.5 text-xs font-semibold"
          >
            {text}
          </Radix.Trigger>
        ))}
      </Radix.List>
    </Radix.Root>
  );
}
