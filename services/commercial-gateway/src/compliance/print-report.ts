import { createHash } from 'node:crypto';
import type { ComplianceReport, ControlReport } from '@countersign/contracts/commercial-gateway';
import { html, type Html } from '@countersign/service-kit';

const styleElement = html`<style>
  :root {
    font:
      14px/1.45 system-ui,
      sans-serif;
  }
  body {
    max-width: 54rem;
    margin: 2rem auto;
    padding: 0 1rem;
  }
  h2 {
    margin-bottom: 0.2rem;
    break-after: avoid;
  }
  dl {
    display: grid;
    grid-template-columns: max-content 1fr;
    gap: 0.2rem 1rem;
  }
  dt {
    font-weight: 600;
  }
  dd {
    margin: 0;
    overflow-wrap: anywhere;
  }
  table {
    border-collapse: collapse;
    width: 100%;
  }
  th,
  td {
    border: 1px solid;
    padding: 0.2rem 0.5rem;
    text-align: left;
    overflow-wrap: anywhere;
    vertical-align: top;
  }
  .notice {
    border: 2px solid;
    padding: 0.5rem;
    font-weight: 600;
  }
  section {
    break-inside: auto;
  }
</style>`;
const styleText = styleElement.text.slice('<style>'.length, -'</style>'.length);
const styleHash = createHash('sha256').update(styleText).digest('base64');

/** Content-Security-Policy that allows only the inline style of the page. */
export const printPolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`;

const statusWords = { evidenced: 'Evidenced', partial: 'Partial', no_evidence: 'No evidence' } as const;

/** Returns the report as a printable page without scripts. The same report gives the same bytes. */
export function printReport(report: ComplianceReport): string {
  const { title, totals, audit_chain: audit } = report;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title}</title>
        ${styleElement}
      </head>
      <body>
        <h1>${title}</h1>
        <p class="notice">${report.disclaimer}</p>
        <dl>
          <dt>Organisation</dt>
          <dd>${report.org_id}</dd>
          <dt>Period</dt>
          <dd>${report.from} to ${report.to} (end exclusive)</dd>
          <dt>Controls</dt>
          <dd>${totals.evidenced} evidenced, ${totals.partial} partial, ${totals.no_evidence} without evidence</dd>
          <dt>Audit chain</dt>
          <dd>${audit.verified ? `Verified, ${audit.entries} entries in the period` : 'Does not verify'}</dd>
          <dt>Citations</dt>
          <dd>${report.citation_rule}</dd>
          <dt>Catalogue version</dt>
          <dd>${report.catalogue_version}</dd>
          <dt>Report hash</dt>
          <dd>${report.report_hash}</dd>
        </dl>
        ${workspaceTable(report.workspaces)} ${chainTable(report.workspace_audit_chains ?? [])}
        ${report.controls.map(controlSection)}
      </body>
    </html> `.text;
}

function workspaceTable(workspaces: ComplianceReport['workspaces']): Html {
  if (workspaces.length === 0) return html`<p>The organisation had no workspace in the period.</p>`;
  const rows = workspaces.map(
    (row) =>
      html`<tr>
        <td>${row.workspace_id}</td>
        <td>${row.receipts}</td>
        <td>${row.unverifiable}</td>
        <td>${row.receipts_digest ?? 'none'}</td>
      </tr>`,
  );
  return html`<h2>Workspaces</h2>
    <table>
      <tr>
        <th>Workspace</th>
        <th>Verified receipts</th>
        <th>Unverifiable</th>
        <th>Digest of the receipts</th>
      </tr>
      ${rows}
    </table>`;
}

function chainTable(chains: NonNullable<ComplianceReport['workspace_audit_chains']>): Html | null {
  if (chains.length === 0) return null;
  const rows = chains.map(
    (row) =>
      html`<tr>
        <td>${row.workspace_id}</td>
        <td>${row.service}</td>
        <td>${row.verified ? row.entries : 'Missing, or does not verify'}</td>
      </tr>`,
  );
  return html`<h2>Audit chains of the workspaces</h2>
    <table>
      <tr>
        <th>Workspace</th>
        <th>Service</th>
        <th>Entries in the period</th>
      </tr>
      ${rows}
    </table>`;
}

function controlSection(control: ControlReport): Html {
  const { cited_receipts: receipts, cited_audit_entries: entries } = control;
  return html`<section>
    <h2>${control.control_id} ${control.title}: ${statusWords[control.status]}</h2>
    <p>Asks: ${control.asks}</p>
    <p>We add: ${control.adds}</p>
    <p>${control.receipts} receipts and ${control.audit_entries} audit entries match.</p>
    <ul>
      ${control.evidence.map(
        (kind) => html`<li>${kind.shows} (${kind.receipts} receipts, ${kind.audit_entries} audit entries)</li>`,
      )}
    </ul>
    ${list(
      'Gaps',
      control.gaps.map((gap) => html`<li>${gap}</li>`),
    )}
    ${list(
      'Cited receipts',
      receipts.map((cited) => html`<li>${cited.receipt_id} in ${cited.workspace_id}, ${cited.receipt_hash}</li>`),
    )}
    ${list(
      'Cited audit entries',
      entries.map(
        ({ seq, hash, chain }) =>
          html`<li>
            Entry ${seq} of
            ${chain === undefined ? 'the organisation' : `${chain.workspace_id} at the ${chain.service}`}, ${hash}
          </li>`,
      ),
    )}
  </section>`;
}

function list(title: string, items: readonly Html[]): Html | null {
  if (items.length === 0) return null;
  return html`<h3>${title}</h3>
    <ul>
      ${items}
    </ul>`;
}
