'use client';
import { useT, type PlainKey } from '../i18n';
import { DialogPanel } from '../ui/dialog-panel';
import { NAV } from './nav';
import { Kbd } from './shortcuts';

const SHEET: readonly (readonly [PlainKey, readonly (readonly [readonly string[], PlainKey])[]])[] = [
  [
    'keys.everywhere',
    [
      [['Ctrl', 'K'], 'keys.palette'],
      [['?'], 'keys.sheet'],
      [['n'], 'action.newTask'],
      [['w'], 'action.newWorkflow'],
    ],
  ],
  ['keys.go', NAV.map((item) => [['g', item.key], item.word] as const)],
  [
    'keys.list',
    [
      [['j'], 'keys.down'],
      [['k'], 'keys.up'],
      [['Enter'], 'keys.open'],
      [['x'], 'keys.select'],
      [['o'], 'keys.expand'],
      [['/'], 'keys.search'],
      [['.'], 'keys.showNew'],
      [['Esc'], 'keys.clear'],
    ],
  ],
  [
    'keys.builder',
    [
      [['↑'], 'keys.up'],
      [['↓'], 'keys.down'],
      [['a'], 'builder.addStep'],
      [['Alt', '↑↓'], 'keys.move'],
      [['Alt', '→'], 'keys.nest'],
      [['Alt', '←'], 'keys.unnest'],
      [['d'], 'builder.duplicate'],
      [['Del'], 'builder.remove'],
      [['Ctrl', 'Z'], 'builder.undo'],
    ],
  ],
];

export function KeyboardSheet({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const t = useT();
  return (
    <DialogPanel open={open} onOpenChange={onOpenChange} title={t('keys.title')} wide>
      <div className="grid gap-x-10 gap-y-5 pt-1 sm:grid-cols-2">
        {SHEET.map(([title, rows]) => (
          <section key={title}>
            <h3 className="text-ink3 border-line border-b pb-1 text-xs font-semibold">{t(title)}</h3>
            <dl>
              {rows.map(([keys, what]) => (
                <div key={keys.join('')} className="flex items-center justify-between gap-4 py-1">
                  <dt className="text-ink2">{t(what)}</dt>
                  <dd className="flex gap-1">
                    {keys.map((key) => (
                      <Kbd key={key}>{key}</Kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </DialogPanel>
  );
}
