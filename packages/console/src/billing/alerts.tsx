import { Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { decimalOfMinor } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { minorOfText, moneyOf } from '../commercial/amounts.ts';
import { commercial } from '../commercial/client.ts';
import { useReadAgain } from '../commercial/use-commercial.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import type { Account } from './use-billing.ts';

type Props = { orgId: OrgId; budget: Account['budget']; currency: string | null };

/** The amount per period at which alerts are sent. An alert stops nothing. */
export function Alerts({ orgId, budget, currency }: Props) {
  const unit = budget?.currency ?? currency ?? 'EUR';
  const readAgain = useReadAgain();
  const [amount, setAmount] = useState(budget === null ? '' : decimalOfMinor(BigInt(budget.amount_minor), unit));
  const set = useMutation({
    mutationFn: async (minor: number) =>
      (await commercial.putBudget({ params: { tenant_id: orgId }, body: { amount_minor: minor, currency: unit } }))
        .body,
    onSettled: readAgain,
  });
  const minor = minorOfText(amount, unit);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (minor !== null) set.mutate(minor);
  };
  return (
    <section className="panel-card" aria-label="Alerts">
      <div className="section-head">
        <h2>Alerts</h2>
        <span className="quiet">{budget === null ? 'Not set' : moneyOf(budget.amount_minor, budget.currency)}</span>
      </div>
      <p className="quiet">
        The administrator gets a message at 75%, 90% and 100% of this amount. An alert stops nothing. To limit calls,
        set a budget on the Budgets page.
      </p>
      <form className="in-line" onSubmit={submit}>
        <TextInput
          label={`Amount per period in ${unit}`}
          required
          withAsterisk={false}
          inputMode="decimal"
          autoComplete="off"
          error={amount !== '' && minor === null ? 'Write an amount above zero, such as 250.00' : null}
          value={amount}
          onChange={({ target }) => setAmount(target.value.trim())}
        />
        <Button type="submit" variant="default" disabled={minor === null} loading={set.isPending}>
          Set alert
        </Button>
      </form>
      <p role="status">
        {set.data !== undefined &&
          `Set to ${moneyOf(set.data.amount_minor, set.data.currency)}.${reachedInWords(set.data.reached_percent)}`}
      </p>
      {set.error !== null && <ProblemNote error={set.error} />}
    </section>
  );
}

const reachedInWords = (reached: readonly number[]) =>
  reached.length === 0 ? '' : ` Already reached: ${reached.map((percent) => `${percent}%`).join(', ')}.`;
