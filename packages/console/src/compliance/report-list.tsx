import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import type { ComplianceReportSummary } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { Period } from '../commercial/period.tsx';
import { commercial } from '../commercial/client.ts';
import { OfOrg } from '../commercial/org-page.tsx';
import { useCommercialList } from '../commercial/use-commercial.ts';
import { useShortcuts } from '../keys/shortcuts.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { More } from '../parts/more.tsx';
import { ReportForm } from './report-form.tsx';
import { frameworkWords, stateWords } from './words.ts';

export function ReportList({ orgId }: { orgId: OrgId }) {
  const [isOpen, form] = useDisclosure();
  const list = useCommercialList(['reports', orgId], ({ signal, ...at }) =>
    commercial.listComplianceReports({ query: { org_id: orgId, ...at }, signal }),
  );
  return (
    <>
      <OfOrg query={list.query}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No reports yet" action={<MakeReport onMake={form.open} />}>
              A report counts the receipts and audit entries of a period for each control of a framework, and cites some
              of them. An auditor can verify every cited receipt. The gaps are stated in words.
            </EmptyState>
          ) : (
            <>
              <p className="actions after-table">
                <MakeReport onMake={form.open} />
              </p>
              <ReportTable reports={items} />
            </>
          )
        }
      </OfOrg>
      <More list={list} />
      <ReportForm orgId={orgId} isOpen={isOpen} onClose={form.close} />
    </>
  );
}

function MakeReport({ onMake }: { onMake: () => void }) {
  useShortcuts([{ keys: 'n', says: 'Make a report', run: onMake }]);
  return <Button onClick={onMake}>Make a report</Button>;
}

function ReportTable({ reports }: { reports: readonly ComplianceReportSummary[] }) {
  return (
    <div className="table-box after-table" tabIndex={0} role="region" aria-label="Reports">
      <table className="cards">
        <thead>
          <tr>
            <th>Framework</th>
            <th>Period</th>
            <th>State</th>
            <th className="number">Receipts read</th>
            <th>Requested</th>
          </tr>
        </thead>
        <tbody>
          {reports.map(({ report_id: id, framework, from, to, state, receipts_read, created_at }) => (
            <tr key={id} data-id={id}>
              <td data-name="Framework">
                <Link to="/compliance/$id" params={{ id }}>
                  {frameworkWords[framework]}
                </Link>
              </td>
              <td data-name="Period">
                <Period start={from} end={to} />
              </td>
              <td data-name="State">
                <Mark tone={stateWords[state].tone}>{stateWords[state].says}</Mark>
              </td>
              <td data-name="Receipts read" className="number">
                {receipts_read.toLocaleString('en-GB')}
              </td>
              <td data-name="Requested">
                <Moment at={created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
