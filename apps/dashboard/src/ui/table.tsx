import { clsx } from 'clsx';
import type { ReactNode } from 'react';

export interface Column<R> {
  readonly key: string;
  readonly head: string;
  readonly cell: (row: R) => ReactNode;
  readonly right?: boolean;
  /** Left out below this width of the table. */
  readonly from?: 'sm' | 'md' | 'lg';
  /** Takes what is left on a narrow screen, and is cut there rather than making the table wider. */
  readonly grows?: boolean;
}

const FROM = { sm: 'hidden @md:table-cell', md: 'hidden @2xl:table-cell', lg: 'hidden @4xl:table-cell' } as const;

interface Props<R> {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly rowKey: (row: R) => string;
  readonly rowClass?: (row: R) => string | undefined;
  readonly empty?: ReactNode;
  /** What screen readers call a column that shows only buttons: its head is empty. */
  readonly actionsLabel?: string;
}

/** A plain table in hairlines for the small views. */
export function Table<R>({ label, columns, rows, rowKey, rowClass, empty, actionsLabel }: Props<R>) {
  if (rows.length === 0) return <>{empty}</>;
  return (
    <div className="@container min-w-0 overflow-x-auto">
      <table aria-label={label} className="w-full border-collapse text-left">
        <thead>
          <tr className="text-2xs text-ink3 border-line border-b">
            {columns.map(({ key, head, right, from }) => (
              <th
                key={key}
                scope="col"
                className={clsx(
                  'px-2 py-1.5 font-semibold first:pl-0 last:pr-0',
                  right && 'text-right',
                  from !== undefined && FROM[from],
                )}
              >
                {head === '' ? <span className="sr-only">{actionsLabel}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} className={clsx('border-line hover:bg-ink/3 border-b align-top', rowClass?.(row))}>
              {columns.map(({ key, cell, right, from, grows }) => (
                <td
                  key={key}
                  className={clsx(
                    'max-w-80 px-2 py-2 first:pl-0 last:pr-0',
                    right && 'text-right whitespace-nowrap',
                    from !== undefined && FROM[from],
                    grows === true && '@max-2xl:w-full @max-2xl:max-w-0',
                  )}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
