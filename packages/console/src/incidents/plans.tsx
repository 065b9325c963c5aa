import { mayDo } from '@countersign/contracts';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Incident } from '@countersign/contracts/control-plane';
import { useShortcuts } from '../keys/shortcuts.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { PlanCard } from './plan-card.tsx';
import { PlanForm } from './plan-form.tsx';

/** Several stops that are approved and applied together, after a dry run has shown their reach. */
export function Plans({ incident: { incident_id, state, plans } }: { incident: Incident }) {
  const { role } = useWorkspace();
  const [isOpen, form] = useDisclosure();
  const mayPlan = mayDo(role, 'plan.create') && state !== 'closed';
  useShortcuts([{ keys: 'p', says: 'Plan stops', run: () => mayPlan && form.open() }]);
  return (
    <section aria-label="Plans">
      <h2>Plans</h2>
      <p className="quiet">A plan shows which calls of the last 7 days its stops would have denied.</p>
      {plans.map((plan) => (
        <PlanCard key={plan.plan_id} plan={plan} />
      ))}
      {mayPlan && (
        <p className="after-table">
          <Button size="xs" variant="default" onClick={form.open}>
            Plan stops
          </Button>
        </p>
      )}
      <PlanForm incidentId={incident_id} isOpen={isOpen} onClose={form.close} />
    </section>
  );
}
