import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { isAppError } from '@countersign/contracts';
import type { WorkspaceSettings } from '@countersign/contracts/gateway';
import { Loaded } from '../parts/loaded.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';

type Terms = WorkspaceSettings['budgetConfig'];
type CurrentState = { terms: Terms; etag: string };
type Props = { isOpen: boolean; onClose: () => void; onSet: () => void };

/** The monthly ceiling on model spend. The gateway stores it and the kernel enforces it. */
export function CeilingForm({ isOpen, onClose, onSet }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Monthly ceiling for models">
      {isOpen && <Loading onSet={onSet} />}
    </Modal>
  );
}

function Loading({ onSet }: { onSet: () => void }) {
  const { id } = useWorkspace();
  // Each opening reads the ceiling again, because the form must not start with old data.
  const [opening] = useState(() => crypto.randomUUID());
  const current = useWorkspaceQuery(['settings', opening], async (client, signal) => {
    const { body, headers } = await client.getWorkspaceSettings({ params: { id }, signal });
    return { body: { terms: body.budgetConfig, etag: headers.get('etag') ?? '' } };
  });
  return (
    <Loaded query={current}>
      {(read) => <Form current={read} retry={() => void current.refetch()} onSet={onSet} />}
    </Loaded>
  );
}

type FormProps = { current: CurrentState; retry: () => void; onSet: () => void };

function Form({ current: active, retry: again, onSet }: FormProps) {
  // The version that the form read or saved last, so that a change by another person is not overwritten.
  const [base, setBase] = useState(active);
  const [amount, setAmount] = useState(String(base.terms.monthlyLlmBudget));
  const [currency, setCurrency] = useState(base.terms.currency);
  const set = useSet({ onKept: setBase, onSet, onFault: again });
  const isConflict = isAppError(set.error) && set.error.code === 'PRECONDITION_FAILED';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set.mutate({ etag: isConflict ? active.etag : base.etag, terms: { monthlyLlmBudget: Number(amount), currency } });
  };
  return (
    <form className="stacked" onSubmit={submit}>
      <p>From the next call on, a model call that would exceed this ceiling is denied.</p>
      <TextInput
        // The form appears after its dialog has opened and moved the focus, so the field takes the focus itself.
        autoFocus
        data-autofocus
        label="Ceiling for a calendar month"
        type="number"
        min={0}
        max={1_000_000_000}
        step={0.01}
        required
        value={amount}
        onChange={({ target }) => setAmount(target.value)}
      />
      <TextInput
        label="Currency"
        description="Another currency starts counting at zero."
        required
        maxLength={3}
        autoComplete="off"
        value={currency}
        onChange={({ target }) => setCurrency(target.value.toUpperCase())}
      />
      {set.error !== null && <ProblemNote error={set.error} />}
      {isConflict && <BothVersions theirs={active.terms} ours={{ monthlyLlmBudget: Number(amount), currency }} />}
      <Button type="submit" loading={set.isPending}>
        {isConflict ? 'Set mine instead' : 'Set the ceiling'}
      </Button>
    </form>
  );
}

type Heard = { onKept: (kept: CurrentState) => void; onSet: () => void; onFault: () => void };

/** Stores the ceiling, then applies it at the kernel. It is reported as set only after the kernel has confirmed it. */
function useSet({ onKept, onSet, onFault }: Heard) {
  const { client, id } = useWorkspace();
  return useMutation({
    mutationFn: async ({ etag, terms }: CurrentState) => {
      const params = { id };
      const body = { budgetConfig: terms };
      const { headers } = await client.putWorkspaceSettings({ params, body, headers: { 'if-match': etag } });
      onKept({ terms, etag: headers.get('etag') ?? '' });
      await client.applyWorkspaceSettings({ params });
    },
    onSuccess: onSet,
    onError: onFault,
  });
}

function BothVersions({ theirs, ours }: { theirs: Terms; ours: Terms }) {
  return (
    <dl className="facts">
      <dt>Current</dt>
      <dd>{inWords(theirs)}</dd>
      <dt>Your version</dt>
      <dd>{inWords(ours)}</dd>
    </dl>
  );
}

const inWords = ({ monthlyLlmBudget, currency }: Terms) => `${monthlyLlmBudget} ${currency} a month`;
