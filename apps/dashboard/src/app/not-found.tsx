'use client';
import { Compass } from 'lucide-react';
import { useT } from '../i18n';
import { LinkButton } from '../ui/button';
import { Empty } from '../ui/states';

export default function NotFound() {
  const t = useT();
  return (
    <>
      <title>{`${t('page.notFound')} · Leasehold`}</title>
      <Empty
        heading="h1"
        icon={Compass}
        title={t('page.notFound')}
        action={<LinkButton href="/tasks">{t('nav.tasks')}</LinkButton>}
      >
        {t('page.notFoundText')}
      </Empty>
    </>
  );
}
