'use client';
import { clsx } from 'clsx';
import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { useT } from '../i18n';
import { buttonClass } from './button';

export interface DialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly description?: string;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

export function DialogPanel({ open, onOpenChange, title, description, wide = false, children }: DialogProps) {
  const t = useT();
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[#0009]" />
        <Radix.Content
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          className={clsx(
            'border-line2 bg-raised shadow-pop fixed top-[12vh] left-1/2 z-50 flex max-h-[80vh] w-[calc(100vw-24px)] -translate-x-1/2 flex-col rounded-xl border',
            wide ? 'max-w-3xl' : 'max-w-md',
          )}
        >
          <div className="flex items-start gap-3 px-4 pt-3.5 pb-2">
            <div className="min-w-0 grow">
              <Radix.Title className="text-base font-semibold">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description className="text-ink2 mt-0.5">{description}</Radix.Description>
              )}
            </div>
            <Radix.Close className={buttonClass({ kind: 'ghost', size: 'icon-sm' })} aria-label={t('action.close')}>
              <X className="size-4" aria-hidden />
            </Radix.Close>
          </div>
          <div className="min-h-0 overflow-auto px-4 pb-4">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
