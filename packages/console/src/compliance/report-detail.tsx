import { Link } from '@tanstack/react-router';
import { getComplianceReport, type ComplianceReportDetails } from '@countersign/contracts/commercial-gateway';
import type { ComplianceReport } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { Period } from '../commercial/period.tsx';
import { quantityOf } from '../commercial/amounts.ts';
import { commercial } from '../commercial/client.ts';
import { OfOrg } from '../commercial/org-page.tsx';
import { useCommercial } from '../commercial/use-commercial.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { ControlLine } from './control-line.tsx';
import { frameworkWords, isBuilt, stateWords } from './words.ts';

const whileBuildingMs = 1_000;

/** One report. While it is being built, the page polls every second. A finished report never changes. */
export function ReportDetail({ orgId, id }: { orgId: OrgId; id: string }) {
  const report = useCommercial(
    ['report', orgId, id],
    async (signal) =>
      (await commercial.getComplianceReport({ params: { report_id: id }, query: { org_id: orgId }, signal })).body,
    (last) => (last === undefined || !isBuilt(last) ? whileBuildingMs : false),
  );
  return (
    <>
      <p className="before-table">
        <Link to="/compliance">All reports</Link>
      </p>
      <OfOrg query={report}>
        {(read) => (
          <>
            <Summary orgId={orgId} details={read} />
            {read.report !== null && <Controls report={read.report} />}
          </>
        )}
      </OfOrg>
    </>
  );
}

function Summary({ orgId, details }: { orgId: OrgId; details: ComplianceReportDetails }) {
  const { framework, from, to, state, receipts_read, failure, finished_at, report } = details;
  return (
    <section className="panel-card" aria-label="Report">
      <div className="section-head">
        <h2>
          {report?.title ?? frameworkWords[framework]}, <Period start={from} end={to} />
        </h2>
        <Mark tone={stateWords[state].tone}>{stateWords[state].says}</Mark>
      </div>
      {!isBuilt(details) && (
        <p role="status">
          {quantityOf(receipts_read)} receipts read so far. The report is built in the background, and this page shows
          it when it is ready.
        </p>
      )}
      {failure !== null && (
        <p>
          <Shown text={failure} />. Make the same report again to repeat it.
        </p>
      )}
      {report !== null && <Facts report={report} finishedAt={finished_at} />}
      {state === 'done' && <Downloads orgId={orgId} id={details.report_id} />}
    </section>
  );
}

function Facts({ report, finishedAt }: { report: ComplianceReport; finishedAt: string | null }) {
  const { totals, workspaces, report_hash, disclaimer } = report;
  const unverifiable = workspaces.reduce((sum, workspace) => sum + workspace.unverifiable, 0);
  return (
    <>
      <p>{disclaimer}</p>
      <dl className="facts">
        <dt>Controls</dt>
        <dd>
          {totals.evidenced} evidenced, {totals.partial} partial, {totals.no_evidence} without evidence
        </dd>
        <dt>Receipts</dt>
        <dd>
          {quantityOf(workspaces.reduce((sum, workspace) => sum + workspace.receipts, 0))} verified in{' '}
          {workspaces.length === 1 ? '1 workspace' : `${workspaces.length} workspaces`}
          {unverifiable > 0 && `, ${quantityOf(unverifiable)} do not verify and are not counted`}
        </dd>
        <dt>Audit chains</dt>
        <dd>{chainsInWords(report)}</dd>
        {finishedAt !== null && (
          <>
            <dt>Finished</dt>
            <dd>
              <Moment at={finishedAt} />
            </dd>
          </>
        )}
        <dt>Hash</dt>
        <dd>
          <CopyText text={report_hash} />
        </dd>
      </dl>
    </>
  );
}

const formats = [
  { format: 'json', title: 'Download JSON' },
  { format: 'oscal', title: 'Download OSCAL' },
  { format: 'print', title: 'Open print view' },
] as const;

function Downloads({ orgId, id }: { orgId: OrgId; id: string }) {
  const path = getComplianceReport.path.replace('{report_id}', id);
  return (
    <div className="actions">
      {formats.map(({ format, title }) => (
        <a
          key={format}
          className="button"
          href={`${path}?${new URLSearchParams({ org_id: orgId, format }).toString()}`}
          {...(format === 'print' ? { target: '_blank', rel: 'noreferrer' } : { download: `${id}.${format}.json` })}
        >
          {title}
        </a>
      ))}
    </div>
  );
}

function Controls({ report: { controls, citation_rule } }: { report: ComplianceReport }) {
  return (
    <section aria-label="Controls">
      <h2>Controls</h2>
      <p className="quiet">{citation_rule}</p>
      <div className="controls after-table">
        {controls.map((control) => (
          <ControlLine key={control.control_id} control={control} />
        ))}
      </div>
    </section>
  );
}

function chainsInWords({ audit_chain: own, workspace_audit_chains: ofWorkspaces = [] }: ComplianceReport): string {
  const chains = [own, ...ofWorkspaces];
  const broken = chains.filter(({ verified }) => !verified).length;
  const entries = chains.reduce((sum, chain) => sum + chain.entries, 0);
  const counted = `${quantityOf(entries)} ${entries === 1 ? 'entry' : 'entries'}`;
  if (broken === 0) return `${counted}, none missing`;
  if (chains.length === 1) return 'An entry was changed or removed, so no entry is counted';
  return `${counted}. Entries were changed or removed in ${broken} of ${chains.length} chains, which are not counted`;
}
