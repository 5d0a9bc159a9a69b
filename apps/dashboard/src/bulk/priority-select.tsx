'use client';
import { LIMITS } from '@leasehold/core/model';
import type { ComponentProps } from 'react';
import { Select } from '../ui/field';

/** Every priority there is. */
export function PrioritySelect({
  onPriority,
  ...rest
}: ComponentProps<'select'> & { onPriority: (value: string) => void }) {
  return (
    <Select {...rest} onChange={(event) => onPriority(event.target.value)}>
      {Array.from({ length: LIMITS.priorityMax + 1 }, (_, n) => (
        <option key={n} value={String(n)}>
          {n}
        </option>
      ))}
    </Select>
  );
}
