'use client';
import { useT } from '../i18n';
import { useTime } from '../time';
import { Button } from '../ui/button';
import { DialogPanel } from '../ui/dialog-panel';

export function OldDataDialog({ ageMs, onAnswer }: { ageMs: number | null; onAnswer: (yes: boolean) => void }) {
  const t = useT();
  const time = useTime();
  return (
    <DialogPanel
      open
      onOpenChange={(next) => !next && onAnswer(false)}
      title={t('stale.title')}
      description={t('stale.text', { age: ageMs === null ? '–' : time.age(ageMs) })}
    >
      <div className="flex justify-end gap-2 pt-2">
        <Button onClick={() => onAnswer(false)}>{t('action.back')}</Button>
        <Button kind="danger" onClick={() => onAnswer(true)}>
          {t('stale.anyway')}
        </Button>
      </div>
    </DialogPanel>
  );
}
