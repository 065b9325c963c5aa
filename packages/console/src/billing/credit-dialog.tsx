import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { AdministeredOrg, CreditGrantKind } from '@countersign/contracts/commercial-gateway';
import { minorOfText, moneyOf } from '../commercial/amounts.ts';
import { commercial } from '../commercial/client.ts';
import { Choice } from '../parts/choice.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { lastDayAt } from './last-day.ts';

type Props = { org: AdministeredOrg; onClose: () => void; onDone: () => void };

const kinds: readonly { id: CreditGrantKind; name: string }[] = [
  { id: 'promotional', name: 'Promotional: reduces revenue' },
  { id: 'purchased', name: 'Purchased: was paid in cash' },
];

/**
 * Grants credit once: the reference stays the same while the dialog is open, so a repeated click grants nothing more.
 */
export function CreditDialog({ org, onClose, onDone }: Props) {
  return (
    <Modal opened onClose={onClose} title={`Grant credit to ${org.name}`}>
      <CreditForm {...{ org, onClose, onDone }} />
    </Modal>
  );
}

function CreditForm({ org, onClose, onDone }: Props) {
  const [reference] = useState(() => crypto.randomUUID());
  const [wanted, setWanted] = useState({
    ...{ kind: 'promotional' as CreditGrantKind, amount: '', currency: 'EUR', day: '', reason: '' },
  });
  const change = (changed: Partial<typeof wanted>) => setWanted((before) => ({ ...before, ...changed }));
  const minor = minorOfText(wanted.amount, wanted.currency);
  const grant = useMutation({
    mutationFn: (amount_minor: number) => {
      const { kind, currency, reason, day } = wanted;
      const body = { kind, currency, amount_minor, reason: reason.trim(), reference, expires_at: lastDayAt(day) };
      return commercial.grantOrgCredit({ params: { org_id: org.org_id }, body });
    },
    onSuccess: () => {
      onDone();
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (minor !== null) grant.mutate(minor);
  };
  return (
    <form className="stacked" onSubmit={submit}>
      <TextInput
        data-autofocus
        label="Amount"
        required
        withAsterisk={false}
        inputMode="decimal"
        autoComplete="off"
        value={wanted.amount}
        onChange={({ target }) => change({ amount: target.value.trim() })}
      />
      <TextInput
        label="Currency"
        required
        withAsterisk={false}
        maxLength={3}
        autoComplete="off"
        value={wanted.currency}
        onChange={({ target }) => change({ currency: target.value.toUpperCase() })}
      />
      <Choice label="Kind" value={wanted.kind} options={kinds} onChange={(kind) => change({ kind })} />
      <Terms day={wanted.day} reason={wanted.reason} onChange={change} />
      {grant.error !== null && <ProblemNote error={grant.error} />}
      <Button type="submit" disabled={minor === null || wanted.reason.trim() === ''} loading={grant.isPending}>
        {minor === null ? 'Grant credit' : `Grant ${moneyOf(minor, wanted.currency)}`}
      </Button>
    </form>
  );
}

type TermsProps = { day: string; reason: string; onChange: (changed: { day?: string; reason?: string }) => void };

function Terms({ day, reason, onChange }: TermsProps) {
  return (
    <>
      <TextInput
        label="Last day, in UTC"
        description="Empty: the credit does not expire."
        type="date"
        value={day}
        onChange={({ target }) => onChange({ day: target.value })}
      />
      <TextInput
        label="Reason"
        description="The organisation sees it."
        required
        withAsterisk={false}
        maxLength={500}
        value={reason}
        onChange={({ target }) => onChange({ reason: target.value })}
      />
    </>
  );
}
