import { useParams } from '@tanstack/react-router';
import { OrgPage, OfOrg, type OwningOrg } from '../commercial/org-page.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { InvoiceDetail } from './invoice-detail.tsx';
import { Invoices } from './invoices.tsx';
import { Ledger } from './ledger.tsx';
import { Organisations } from './organisations.tsx';
import { UsageOverview } from './usage-overview.tsx';
import { useBilling, usageAlone, type Billing } from './use-billing.ts';
import { useIsInstallationAdmin } from './use-installation-admin.ts';

/** `/billing`: usage and plan. Below it: `invoices`, `ledger`, `organisations`, and an invoice by its id. */
export function BillingPage() {
  return (
    <OrgPage
      title="Billing and usage"
      about="Stops, denials, approvals, checking proof, exporting your evidence and deletion are never limited."
    >
      {(org) => <OfAdministrator org={org} />}
    </OrgPage>
  );
}

function OfAdministrator({ org }: { org: OwningOrg }) {
  const { id }: { id?: string } = useParams({ strict: false });
  const billing = useBilling(org.orgId);
  const isAdmin = useIsInstallationAdmin();
  const hasBilling = billing.data !== undefined && !usageAlone(billing.data);
  const tabs = [
    { to: '/billing', title: 'Usage and plan' },
    ...(hasBilling
      ? [
          { to: '/billing/invoices', title: 'Invoices' },
          { to: '/billing/ledger', title: 'Ledger' },
        ]
      : []),
    ...(isAdmin ? [{ to: '/billing/organisations', title: 'All organisations' }] : []),
  ];
  return (
    <>
      {tabs.length > 1 && <Tabs label="Parts of billing" tabs={tabs} />}
      {id === 'organisations' ? (
        <Organisations />
      ) : (
        <OfOrg query={billing}>{(read) => <Section id={id} org={org} billing={read} />}</OfOrg>
      )}
    </>
  );
}

function Section({ id, org: { orgId }, billing }: { id: string | undefined; org: OwningOrg; billing: Billing }) {
  if (id === undefined) return <UsageOverview orgId={orgId} billing={billing} />;
  if (id === 'invoices') return <Invoices orgId={orgId} />;
  if (id === 'ledger') return <Ledger orgId={orgId} />;
  return <InvoiceDetail orgId={orgId} id={id} key={id} />;
}
