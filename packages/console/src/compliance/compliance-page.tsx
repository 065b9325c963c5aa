import { useParams } from '@tanstack/react-router';
import { OrgPage } from '../commercial/org-page.tsx';
import { ReportDetail } from './report-detail.tsx';
import { ReportList } from './report-list.tsx';

/** `/compliance`: reports of the organisation. `/compliance/{report_id}`: one of them with its controls. */
export function CompliancePage() {
  const { id }: { id?: string } = useParams({ strict: false });
  return (
    <OrgPage
      title="Compliance"
      about="Receipts and audit entries that evidence the controls of a framework. Countersign certifies nothing."
    >
      {({ orgId }) =>
        id === undefined ? <ReportList orgId={orgId} /> : <ReportDetail orgId={orgId} id={id} key={id} />
      }
    </OrgPage>
  );
}
