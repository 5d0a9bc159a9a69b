'use client';
import { clsx } from 'clsx';
import { Check } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { Suspense, type ComponentProps, type ReactElement, type ReactNode } from 'react';

const PANEL =
  'border-line2 bg-raised shadow-pop z-50 max-h-[70vh] min-w-44 overflow-auto rounded-lg border p-1 text-sm';
const ITEM =
  'flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 outline-none select-none data-highlighted:bg-accent/14 data-disabled:text-ink3 data-disabled:cursor-not-allowed';

export interface MenuProps {
  readonly trigger: ReactElement<ComponentProps<'button'>>;
  readonly align?: 'start' | 'end';
  readonly children: ReactNode;
}

/** Open when it comes: it is loaded because its trigger was pressed. */
export function MenuPanel({ trigger, align = 'end', children }: MenuProps) {
  return (
    <DropdownMenu.Root defaultOpen>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align={align} sideOffset={6} collisionPadding={8} className={PANEL}>
          <Suspense>{children}</Suspense>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export interface MenuItemProps {
  readonly onSelect: () => void;
  readonly disabled?: boolean;
  readonly danger?: boolean;
  readonly children: ReactNode;
}

export function MenuItem({ onSelect, disabled, danger, children }: MenuItemProps) {
  return (
    <DropdownMenu.Item
      onSelect={onSelect}
      disabled={disabled ?? false}
      className={clsx(ITEM, danger && 'text-failure')}
    >
      {children}
    </DropdownMenu.Item>
  );
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return (
    <DropdownMenu.Label className="text-2xs text-ink3 px-2 pt-1.5 pb-1 font-semibold">{children}</DropdownMenu.Label>
  );
}

export interface MenuChoicesProps<T extends string> {
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly choices: readonly (readonly [T, string])[];
}

export function MenuChoices({ value, onChange, choices }: MenuChoicesProps<string>) {
  return (
    <DropdownMenu.RadioGroup value={value} onValueChange={onChange}>
      {choices.map(([choice, label]) => (
        <DropdownMenu.RadioItem key={choice} value={choice} className={ITEM}>
          <span className="grow">{label}</span>
          <DropdownMenu.ItemIndicator>
            <Check className="text-accent size-3.5" aria-hidden />
          </DropdownMenu.ItemIndicator>
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}

export interface MenuCheckProps {
  readonly checked: boolean;
  readonly onChange: () => void;
  readonly disabled?: boolean;
  readonly children: ReactNode;
}

/** Stays open: whoever chooses columns chooses several. */
export function MenuCheck({ checked, onChange, disabled = false, children }: MenuCheckProps) {
  return (
    <DropdownMenu.CheckboxItem
      checked={checked}
      disabled={disabled}
      onCheckedChange={onChange}
      onSelect={(event) => event.preventDefault()}
      className={ITEM}
    >
      <span className="grow">{children}</span>
      <DropdownMenu.ItemIndicator>
        <Check className="text-accent size-3.5" aria-hidden />
      </DropdownMenu.ItemIndicator>
    </DropdownMenu.CheckboxItem>
  );
}

export function MenuLine() {
  return <DropdownMenu.Separator className="bg-line my-1 h-px" />;
}
