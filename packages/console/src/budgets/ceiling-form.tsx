import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { isAppError } from '@countersign/contracts';
import type { WorkspaceSettings } from '@countersign/contracts/gateway';
import { Loaded } from '../parts/loaded.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';

type Terms = WorkspaceSettings['budgetConfig'];
type Standing = { terms: Terms; etag: string };
type Props = { isOpen: boolean; onClose: () => void; onSet: () => void };

/** The monthly ceiling on models: stored by the gateway, enforced by the kernel. */
export function CeilingForm({ isOpen, onClose, onSet }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Ceiling of the month">
      {isOpen && <Loading onSet={onSet} />}
    </Modal>
  );
}

function Loading({ onSet }: { onSet: () => void }) {
  const { id } = useWorkspace();
  // Data of an earlier opening may be old by now, and the form would begin with it.
  const [opening] = useState(() => crypto.randomUUID());
  const standing = useWorkspaceQuery(['settings', opening], async (client, signal) => {
    const { body, headers } = await client.getWorkspaceSettings({ params: { id }, signal });
    return { body: { terms: body.budgetConfig, etag: headers.get('etag') ?? '' } };
  });
  return (
    <Loaded query={standing}>
      {(read) => <Form standing={read} again={() => void standing.refetch()} onSet={onSet} />}
    </Loaded>
  );
}

type FormProps = { standing: Standing; again: () => void; onSet: () => void };

function Form({ standing, again, onSet }: FormProps) {
  // The version that was read when the form opened, or saved by it: a change by another person is not overwritten.
  const [base, setBase] = useState(standing);
  const [amount, setAmount] = useState(String(base.terms.monthlyLlmBudget));
  const [currency, setCurrency] = useState(base.terms.currency);
  const set = useSet({ onKept: setBase, onSet, onFault: again });
  const isConflict = isAppError(set.error) && set.error.code === 'PRECONDITION_FAILED';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set.mutate({ etag: isConflict ? standing.etag : base.etag, terms: { monthlyLlmBudget: Number(amount), currency } });
  };
  return (
    <form className="stacked" onSubmit={submit}>
      <p>From the next call on, a model call that would exceed this ceiling is denied.</p>
      <TextInput
        // The current value is read when the dialog is open already, and then the focus is elsewhere.
        autoFocus
        data-autofocus
        label="At most in a calendar month"
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
      {isConflict && <BothVersions theirs={standing.terms} ours={{ monthlyLlmBudget: Number(amount), currency }} />}
      <Button type="submit" loading={set.isPending}>
        {isConflict ? 'Set mine instead' : 'Set the ceiling'}
      </Button>
    </form>
  );
}

type Heard = { onKept: (kept: Standing) => void; onSet: () => void; onFault: () => void };

/** Kept, then told to the kernel: until that has confirmed it, the page does not say that it is set. */
function useSet({ onKept, onSet, onFault }: Heard) {
  const { client, id } = useWorkspace();
  return useMutation({
    mutationFn: async ({ etag, terms }: Standing) => {
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
