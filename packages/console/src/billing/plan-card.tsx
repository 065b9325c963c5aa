import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { moneyOf } from '../commercial/amounts.ts';
import { capabilityWords, sourceWords, subscriptionWords } from '../commercial/words.ts';
import { useShortcuts } from '../keys/shortcuts.ts';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { ChangePlan } from './change-plan.tsx';
import { planOf, type Billing } from './use-billing.ts';

/** The plan in force, the state of its subscription, and the next step. */
export function PlanCard({ orgId, billing }: { orgId: OrgId; billing: Billing }) {
  const { account, entitlements } = billing;
  const [isOpen, dialog] = useDisclosure();
  useShortcuts([{ keys: 'p', says: 'Change the plan', run: dialog.open }]);
  const { subscription } = account;
  const plan = planOf(billing, subscription?.plan_id ?? entitlements.plan_id, subscription?.plan_version);
  const state = subscription && subscriptionWords[subscription.status];
  return (
    <section className="panel-card" aria-label="Plan">
      <div className="section-head">
        <h2>Plan</h2>
        {state && <Mark tone={state.tone}>{state.says}</Mark>}
      </div>
      <p className="meter-head">
        <span className="price">{plan?.name ?? entitlements.plan_id}</span>
        <span>
          <strong className="price">{plan?.currency ? moneyOf(plan.base_minor, plan.currency) : 'No price'}</strong>
          {plan?.currency && <span className="quiet"> a month</span>}
        </span>
      </p>
      <p className="quiet">{state?.next ?? 'No subscription. Change the plan to subscribe.'}</p>
      <PlanFacts billing={billing} />
      <div className="actions">
        <Button size="xs" onClick={dialog.open}>
          Change plan
        </Button>
      </div>
      <ChangePlan orgId={orgId} billing={billing} isOpen={isOpen} onClose={dialog.close} />
    </section>
  );
}

function PlanFacts({ billing: { account, entitlements } }: { billing: Billing }) {
  const { subscription } = account;
  return (
    <dl className="facts">
      {subscription !== null && (
        <>
          <dt>{subscription.status === 'trialing' ? 'Trial ends' : 'Renews'}</dt>
          <dd>
            <Moment at={subscription.trial_ends_at ?? subscription.period.end} />
          </dd>
        </>
      )}
      {subscription?.past_due_since && (
        <>
          <dt>Unpaid since</dt>
          <dd>
            <Moment at={subscription.past_due_since} />
          </dd>
        </>
      )}
      <dt>In force by</dt>
      <dd>{sourceWords[entitlements.source]}</dd>
      {entitlements.valid_until !== null && (
        <>
          <dt>Until</dt>
          <dd>
            <Moment at={entitlements.valid_until} />
          </dd>
        </>
      )}
      <dt>Includes</dt>
      <dd>
        {entitlements.capabilities.length === 0
          ? 'Decisions, proof and evidence'
          : entitlements.capabilities.map((capability) => capabilityWords[capability]).join(', ')}
      </dd>
    </dl>
  );
}
