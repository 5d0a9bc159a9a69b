'use client';
import { checkTemplate, fromMachinery, LeaseholdError, looksLikeMachinery, type Workflow } from '@leasehold/core/model';
import type { HandlerView } from '@leasehold/wire';
import { useState } from 'react';
import { parseLossless, stringifyLossless } from '../api/lossless';
import { useT } from '../i18n';
import { Button } from '../ui/button';
import { CopyButton } from '../ui/copy';
import { Area, Field } from '../ui/field';
import { draftOf, type Build } from './build';
import { newBox, type BoxDraft } from './draft';

interface Props {
  readonly build: Build;
  readonly handlers: ReadonlyMap<string, HandlerView>;
  readonly onLoad: (root: BoxDraft, nextKey: number) => void;
}

/** A template that was copied as JSON holds its workflow. */
function exported(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('workflow' in value)) return value;
  return value.workflow;
}

/** Ours or Machinery's. Checked by the core before it becomes a tree. */
function workflowOf(text: string): Workflow {
  const value = parseLossless(text);
  const workflow = looksLikeMachinery(value) ? fromMachinery(value).workflow : (exported(value) as Workflow);
  // Also one with holes: they are asked for before it can be submitted.
  checkTemplate({ title: 'JSON', workflow }, {}, Date.now());
  return workflow;
}

export function JsonPane({ build, handlers, onLoad }: Props) {
  const t = useT();
  const now = stringifyLossless(build.workflow, 2);
  const [text, setText] = useState(now);
  const [problem, setProblem] = useState<string>();
  const load = (): void => {
    try {
      const made = draftOf(workflowOf(text), handlers);
      const { draft, next } = made;
      if (draft.kind === 'task') onLoad(newBox(next, 'chain', [draft]), next + 1);
      else onLoad(draft, next);
    } catch (error) {
      if (!(error instanceof LeaseholdError || error instanceof SyntaxError || error instanceof TypeError)) throw error;
      setProblem(error.message);
    }
  };
  return (
    <div className="py-3">
      <Field label={t('builder.json')} help={t('builder.jsonHelp')} error={problem}>
        {(props) => (
          <Area
            {...props}
            rows={20}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setProblem(undefined);
            }}
          />
        )}
      </Field>
      <div className="mt-2 flex items-center justify-end gap-2">
        <CopyButton text={text} />
        <Button disabled={text === now} onClick={load}>
          {t('builder.load')}
        </Button>
      </div>
    </div>
  );
}
