import type { OrgId } from '@countersign/contracts/governance-kernel';
import { Alerts } from './alerts.tsx';
import { Credits } from './credits.tsx';
import { LimitsCard } from './limits-card.tsx';
import { MonthCard } from './month-card.tsx';
import { OpenInvoices } from './open-invoices.tsx';
import { PlanCard } from './plan-card.tsx';
import { usageAlone, type Billing } from './use-billing.ts';

/** Usage with its price so far, and the plan beside it. */
export function UsageOverview({ orgId, billing }: { orgId: OrgId; billing: Billing }) {
  if (usageAlone(billing))
    return (
      <div className="main-column">
        <section className="note note-good" aria-label="Plan">
          <h2>No limits</h2>
          <p>
            This installation is self-hosted: every capability, no limit and no price. Usage is counted and not billed.
          </p>
        </section>
        <MonthCard billing={billing} />
      </div>
    );
  return (
    <div className="two-columns with-side">
      <div className="main-column">
        <MonthCard billing={billing} />
        <LimitsCard entitlements={billing.entitlements} />
        <Alerts orgId={orgId} budget={billing.account.budget} currency={billing.usage.currency} />
      </div>
      <div className="side">
        <PlanCard orgId={orgId} billing={billing} />
        <OpenInvoices invoices={billing.account.open_invoices} />
        <Credits account={billing.account} />
      </div>
    </div>
  );
}
