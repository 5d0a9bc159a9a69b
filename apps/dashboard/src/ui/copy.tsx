'use client';
import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useT } from '../i18n';
import { buttonClass } from './button';

export function CopyButton({ text, label, className }: { text: string; label?: string; className?: string }) {
  const t = useT();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  const Icon = copied ? Check : Copy;
  return (
    <button
      type="button"
      aria-label={label ?? t('action.copy')}
      title={copied ? t('action.copied') : (label ?? t('action.copy'))}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      className={buttonClass({ kind: 'ghost', size: 'icon-sm' }, className)}
    >
      <Icon className="size-3.5" aria-hidden />
    </button>
  );
}
