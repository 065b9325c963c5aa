import { useNavigate } from '@tanstack/react-router';
import { useRef, useState, type RefObject } from 'react';
import type { InboxApproval } from '@countersign/contracts/control-plane';

type Input = { approvals: readonly InboxApproval[]; openId: string | null; isWide: boolean };
export type Choice = {
  /** The call that is shown and that keys act on. `null` when no call is shown. */
  chosenId: string | null;
  list: RefObject<HTMLUListElement | null>;
  move(step: number): void;
};

/**
 * The chosen call: the one in the address, or on a wide screen the newest one. It stays chosen when it leaves the list,
 * so that a vote never applies to a call that took its place.
 */
export function useChoice({ approvals, openId, isWide }: Input): Choice {
  const navigate = useNavigate();
  const list = useRef<HTMLUListElement>(null);
  const [firstId, setFirstId] = useState<string | null>(null);
  const [newest] = approvals;
  if (isWide && openId === null && firstId === null && newest !== undefined) setFirstId(newest.approval_id);
  const chosenId = openId ?? (isWide ? firstId : null);
  const move = (step: number) => {
    const fromId = chosenId ?? focusedIn(list.current);
    const at = approvals.findIndex(({ approval_id }) => approval_id === fromId);
    const next = approvals[Math.max(0, Math.min(approvals.length - 1, at + step))];
    if (next === undefined) return;
    const { approval_id: id } = next;
    if (chosenId !== null)
      void navigate({
        ...{ to: '/inbox/$id', params: { id }, search: (before: object) => before },
        ...{ replace: true, resetScroll: !isWide },
      });
    linesOf(list.current)
      .find(({ dataset }) => dataset['id'] === id)
      ?.querySelector('a')
      ?.focus();
  };
  return { chosenId, list, move };
}

function linesOf(list: HTMLUListElement | null): HTMLElement[] {
  return list === null ? [] : [...list.querySelectorAll<HTMLElement>('[data-id]')];
}

function focusedIn(list: HTMLUListElement | null): string | undefined {
  return linesOf(list).find((line) => line.contains(document.activeElement))?.dataset['id'];
}
