'use client';
import type { BulkRow } from '@leasehold/wire';
import { useT } from '../i18n';
import { grouped } from '../look/number';

/** Done, skipped and changed as shares of the whole; what is left of it is not reached yet. */
export function BulkProgress({ row, tall = false }: { row: BulkRow; tall?: boolean }) {
  const t = useT();
  const share = (n: number): string => `${(n / Math.max(1, row.total)) * 100}%`;
  return (
    <div
      role="progressbar"
      aria-label={t('bulk.progress')}
      aria-valuemin={0}
      aria-valuemax={row.total}
      aria-valuenow={row.position}
      aria-valuetext={`${grouped(row.position)} / ${grouped(row.total)}`}
      className={`bg-line2 flex w-full overflow-hidden rounded-full ${tall ? 'h-2' : 'h-1.5'}`}
    >
      <span className="bg-success" style={{ width: share(row.done) }} />
      <span className="bg-retry" style={{ width: share(row.skipped) }} />
      <span className="bg-failure" style={{ width: share(row.conflicted) }} />
    </div>
  );
}

export function percent(row: BulkRow): string {
  return `${Math.floor((row.position / Math.max(1, row.total)) * 100)} %`;
}
