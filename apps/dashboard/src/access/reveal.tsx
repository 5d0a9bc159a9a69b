'use client';
import type { Revealed } from '@leasehold/wire';
import { Eye } from 'lucide-react';
import { useState } from 'react';
import { problemText } from '../api/acting';
import { call } from '../api/call';
import { paths } from '../api/paths';
import { useT } from '../i18n';
import { Button, ReasonButton } from '../ui/button';
import { ReasonDialog } from '../ui/reason-dialog';
import { Values } from '../task/values';
import { useMissing } from './may';
import { useAccessWords } from './words';

/** The hidden values of a task: for a reason, which is recorded first. Kept nowhere but here. */
export function Reveal({ id }: { id: string }) {
  const t = useAccessWords();
  const words = useT();
  const missing = useMissing('secret.reveal');
  const [asking, setAsking] = useState(false);
  const [shown, setShown] = useState<Revealed | null>(null);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const reveal = async (reason: string): Promise<void> => {
    setAsking(false);
    setProblem(undefined);
    try {
      setShown(await call({ answer: 'Revealed', method: 'POST', path: paths.reveal(id), body: { reason } }));
    } catch (error) {
      setProblem(problemText(error, words));
    }
  };
  if (shown !== null) {
    return (
      <section className="border-retry/45 my-2 rounded-md border p-3" aria-label={t('reveal.button')}>
        <p role="status" className="text-retry mb-1 flex items-start gap-3 text-xs">
          <span className="grow">{t('reveal.shown')}</span>
          <Button size="sm" onClick={() => setShown(null)}>
            {t('reveal.hide')}
          </Button>
        </p>
        <Values values={shown.args as Parameters<typeof Values>[0]['values']} />
        {shown.results !== undefined && <Values values={shown.results as Parameters<typeof Values>[0]['values']} />}
        {shown.error !== undefined && <pre className="font-mono text-xs whitespace-pre-wrap">{shown.error}</pre>}
      </section>
    );
  }
  return (
    <div className="py-1.5">
      <ReasonButton size="sm" reason={missing} onClick={() => setAsking(true)}>
        <Eye className="size-3.5" aria-hidden />
        {t('reveal.button')}
      </ReasonButton>
      {problem !== undefined && (
        <p role="alert" className="text-failure mt-1 text-xs">
          {problem}
        </p>
      )}
      <ReasonDialog
        open={asking}
        onOpenChange={setAsking}
        title={t('reveal.title')}
        text={t('reveal.text')}
        action={t('reveal.action')}
        required
        onDone={(reason) => void reveal(reason)}
      />
    </div>
  );
}
