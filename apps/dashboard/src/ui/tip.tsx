'use client';
import {
  cloneElement,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type HTMLAttributes,
  type ReactElement,
  type ReactNode,
} from 'react';
import { createPortal } from 'react-dom';

type Side = 'top' | 'right' | 'bottom';

const OPEN_MS = 350;
/** Long enough to move the pointer from the thing to its tip (WCAG 1.4.13). */
const CLOSE_MS = 140;
const GAP_PX = 6;
const EDGE_PX = 8;

/** One thing at a time that happens later. */
function makeDelay(): { readonly start: (ms: number, then: () => void) => void; readonly stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => clearTimeout(timer);
  return {
    stop,
    start: (ms, then) => {
      stop();
      timer = setTimeout(then, ms);
    },
  };
}

interface TipProps {
  readonly text: ReactNode;
  readonly side?: Side;
  /** One element that passes its attributes on; pointer and focus are listened to here. */
  readonly children: ReactElement<HTMLAttributes<HTMLElement>>;
}

/** Words beside a thing, while the pointer or the keyboard's focus is on it. */
export function Tip({ text, side = 'top', children }: TipProps) {
  const id = useId();
  const [anchor, setAnchor] = useState<Element | null>(null);
  const [delay] = useState(makeDelay);
  useEffect(() => delay.stop, [delay]);
  const later = (ms: number, next: Element | null): void => delay.start(ms, () => setAnchor(next));
  const hide = (): void => later(0, null);
  return (
    <>
      {cloneElement(children, {
        ...(anchor === null ? {} : { 'aria-describedby': id }),
        onPointerEnter: (event) => event.pointerType !== 'touch' && later(OPEN_MS, event.currentTarget),
        onPointerLeave: () => later(CLOSE_MS, null),
        onPointerDown: hide,
        onFocus: ({ currentTarget }) => currentTarget.matches(':focus-visible') && later(0, currentTarget),
        onBlur: hide,
      })}
      {anchor !== null &&
        createPortal(
          <TipPanel
            id={id}
            anchor={anchor}
            side={side}
            onEscape={hide}
            onEnter={delay.stop}
            onLeave={() => later(CLOSE_MS, null)}
          >
            {text}
          </TipPanel>,
          document.body,
        )}
    </>
  );
}

interface PanelProps {
  readonly id: string;
  readonly anchor: Element;
  readonly side: Side;
  readonly onEscape: () => void;
  readonly onEnter: () => void;
  readonly onLeave: () => void;
  readonly children: ReactNode;
}

function TipPanel({ id, anchor, side, onEscape, onEnter, onLeave, children }: PanelProps) {
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (panel.current !== null) place(panel.current, anchor.getBoundingClientRect(), side);
  }, [anchor, side, children]);
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') onEscape();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  });
  return (
    <div
      ref={panel}
      id={id}
      role="tooltip"
      onPointerEnter={onEnter}
      onPointerLeave={onLeave}
      className="border-line2 bg-raised text-ink shadow-pop fixed top-0 left-0 z-50 w-max max-w-80 rounded-md border px-2 py-1 text-xs wrap-anywhere"
    >
      {children}
    </div>
  );
}

/** Beside its anchor, inside the window. */
function place(panel: HTMLElement, at: DOMRect, side: Side): void {
  const { offsetWidth: width, offsetHeight: height } = panel;
  const left = side === 'right' ? at.right + GAP_PX : at.left + (at.width - width) / 2;
  const top =
    side === 'right'
      ? at.top + (at.height - height) / 2
      : side === 'top'
        ? at.top - height - GAP_PX
        : at.bottom + GAP_PX;
  const within = (value: number, size: number, room: number): number =>
    Math.max(EDGE_PX, Math.min(value, room - size - EDGE_PX));
  panel.style.left = `${within(left, width, window.innerWidth)}px`;
  panel.style.top = `${within(top, height, window.innerHeight)}px`;
}
