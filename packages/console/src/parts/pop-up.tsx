import { useEffect, useRef, useState, type FocusEvent, type KeyboardEvent, type ReactNode, type Ref } from 'react';

type Props = {
  /** The name of the panel. */
  name: string;
  /** The content of the button that opens the panel. */
  face: ReactNode;
  /** The name of the button, when its content has no text. */
  label?: string;
  className?: string;
  opener?: Ref<HTMLButtonElement>;
  children: (close: () => void) => ReactNode;
};

/**
 * A button that opens a panel below it, or from the lower edge of a phone. The panel is placed by the style sheet,
 * because inline styles are blocked. Escape closes it and returns the focus.
 */
export function PopUp({ name, face, label, className, opener, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLSpanElement>(null);
  const close = () => {
    setOpen(false);
    box.current?.querySelector('button')?.focus();
  };
  useEffect(() => {
    if (!isOpen) return;
    box.current?.querySelector<HTMLElement>('.pop-up-panel :is(input, button, a)')?.focus();
    const pressed = ({ target }: Event) => {
      if (target instanceof Node && box.current?.contains(target) === false) setOpen(false);
    };
    document.addEventListener('pointerdown', pressed);
    return () => document.removeEventListener('pointerdown', pressed);
  }, [isOpen]);
  const keyPressed = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isOpen) return;
    event.stopPropagation();
    close();
  };
  const blurred = ({ relatedTarget: next }: FocusEvent) => {
    if (next !== null && box.current?.contains(next) === false) setOpen(false);
  };
  return (
    <span className="pop-up" ref={box} onKeyDown={keyPressed} onBlur={blurred}>
      <button
        type="button"
        ref={opener}
        className={className}
        aria-label={label}
        title={label}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {face}
      </button>
      {isOpen && (
        <div className="pop-up-panel" role="dialog" aria-label={name}>
          {children(close)}
        </div>
      )}
    </span>
  );
}
