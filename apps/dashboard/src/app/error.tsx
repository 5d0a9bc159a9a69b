'use client';
import { TriangleAlert } from 'lucide-react';
import { useT } from '../i18n';
import { Button } from '../ui/button';
import { Empty } from '../ui/states';

export default function PageError({ error, reset }: { error: Error; reset: () => void }) {
  const t = useT();
  return (
    <Empty icon={TriangleAlert} title={t('page.failed')} action={<Button onClick={reset}>{t('load.again')}</Button>}>
      {t('page.failedText', { message: error.message })}
    </Empty>
  );
}
