import { IconChevronDown, IconX } from '@tabler/icons-react';
import type { ReactNode, Ref } from 'react';
import { PopUp } from '../parts/pop-up.tsx';

type Props = {
  label: string;
  /** The shown value. `undefined` when the list is not filtered by it. */
  shown: string | undefined;
  onRemove: () => void;
  opener?: Ref<HTMLButtonElement>;
  children: (close: () => void) => ReactNode;
};

/** One filter of a list. Its button opens the values, and a second button removes the filter. */
export function FilterChip({ label, shown, onRemove, opener, children }: Props) {
  const face = (
    <>
      {label}{' '}
      <strong>
        <bdi>{shown ?? 'any'}</bdi>
      </strong>
      <IconChevronDown size={14} aria-hidden="true" />
    </>
  );
  return (
    <li className={shown === undefined ? 'filter-chip' : 'filter-chip filter-on'}>
      <PopUp name={label} face={face} {...(opener !== undefined && { opener })}>
        {children}
      </PopUp>
      {shown !== undefined && (
        <button type="button" aria-label={`Remove ${label}: ${shown}`} onClick={onRemove}>
          <IconX size={14} aria-hidden="true" />
        </button>
      )}
    </li>
  );
}
