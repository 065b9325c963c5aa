import { Button, Modal } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { PlanVersion } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { moneyOf, quantityOf } from '../commercial/amounts.ts';
import { commercial } from '../commercial/client.ts';
import { useReadAgain } from '../commercial/use-commercial.ts';
import { inSentence, meterWords } from '../commercial/words.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Checkout } from './checkout.tsx';
import { planOf, type Billing } from './use-billing.ts';

type Props = { orgId: OrgId; billing: Billing; isOpen: boolean; onClose: () => void };

export function ChangePlan({ isOpen, onClose, ...rest }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Change plan">
      {isOpen && <PlanForm {...rest} onDone={onClose} />}
    </Modal>
  );
}

function PlanForm({ orgId, billing, onDone }: Omit<Props, 'isOpen' | 'onClose'> & { onDone: () => void }) {
  const readAgain = useReadAgain();
  const { subscription } = billing.account;
  const isCurrent = (plan: PlanVersion) =>
    plan.plan_id === subscription?.plan_id && plan.version === subscription.plan_version;
  // A plan without a currency cannot be chosen. It is in force when no subscription exists.
  const offered = billing.plans.filter(({ currency }) => currency !== null);
  const [chosen, setChosen] = useState(() => offered.find((plan) => !isCurrent(plan)));
  const plan = chosen && { plan_id: chosen.plan_id, plan_version: chosen.version };
  const change = useMutation({
    mutationFn: async () => {
      if (plan !== undefined) await commercial.putSubscription({ params: { tenant_id: orgId }, body: { plan } });
    },
    onSuccess: onDone,
    onSettled: readAgain,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <div className="stacked">
      <form className="stacked" onSubmit={submit}>
        <fieldset>
          <legend>Plan</legend>
          {offered.map((one) => (
            <Choice
              key={`${one.plan_id} ${one.version}`}
              plan={one}
              isCurrent={isCurrent(one)}
              isChosen={one === chosen}
              onChoose={() => setChosen(one)}
            />
          ))}
        </fieldset>
        <p>
          {chosen === undefined ? 'No other plan is offered.' : 'The plan applies at once.'}
          {subscription !== null && ' The time used on the old plan is added to an invoice.'} Nothing is deleted.
        </p>
        {change.error !== null && <ProblemNote error={change.error} />}
        <div className="actions">
          <Button type="submit" disabled={chosen === undefined || isCurrent(chosen)} loading={change.isPending}>
            {chosen === undefined ? 'Change plan' : `Change to ${chosen.name}`}
          </Button>
        </div>
      </form>
      {plan !== undefined && chosen?.currency && (
        <Checkout
          orgId={orgId}
          body={{ purpose: 'subscription', plan }}
          act={`Subscribe to ${chosen.name} with a payment method`}
        />
      )}
      <EndSubscription {...{ orgId, billing, onDone }} />
    </div>
  );
}

type EndProps = Pick<Props, 'orgId' | 'billing'> & { onDone: () => void };

function EndSubscription({ orgId, billing, onDone }: EndProps) {
  const readAgain = useReadAgain();
  const [isAsked, setAsked] = useState(false);
  const { subscription } = billing.account;
  if (subscription === null) return null;
  return (
    <>
      <p className="actions">
        <Button size="xs" variant="default" onClick={() => setAsked(true)}>
          Cancel subscription
        </Button>
      </p>
      <ConfirmDialog
        question={
          isAsked
            ? {
                title: 'Cancel subscription',
                says: 'The previous plan applies at once. The time used is added to an invoice. Nothing is deleted.',
                act: 'Cancel subscription',
                typed: planOf(billing, subscription.plan_id)?.name ?? subscription.plan_id,
                run: () => commercial.putSubscription({ params: { tenant_id: orgId }, body: { plan: null } }),
              }
            : null
        }
        onClose={() => setAsked(false)}
        onDone={() => {
          onDone();
          void readAgain();
        }}
      />
    </>
  );
}

type ChoiceProps = { plan: PlanVersion; isCurrent: boolean; isChosen: boolean; onChoose: () => void };

function Choice({ plan, isCurrent, isChosen, onChoose }: ChoiceProps) {
  const { name, currency, base_minor, meters, limits } = plan;
  const included = meters.map(({ meter, included: units }) => `${quantityOf(units)} ${inSentence(meterWords[meter])}`);
  return (
    <label className="plan-choice">
      <input type="radio" name="plan" checked={isChosen} disabled={isCurrent} onChange={onChoose} />
      <span>
        <strong>{name}</strong> {currency === null ? 'no price' : `${moneyOf(base_minor, currency)} a month`}
        {isCurrent && ' (current)'}
        <br />
        <span className="quiet">
          {included.length > 0
            ? `Includes ${included.join(', ')}.`
            : `${quantityOf(limits.tool_calls ?? 0)} tool calls a month, ${limits.members ?? 'any number of'} members.`}
        </span>
      </span>
    </label>
  );
}
