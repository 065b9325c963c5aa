import type { ServerResponse } from 'node:http';
import { AppError, ComplianceReportId } from '@countersign/contracts';
import {
  getComplianceReport,
  type ComplianceReport,
  type ComplianceReportDetails,
  type ComplianceReportFormat,
} from '@countersign/contracts/commercial-gateway';
import { canonicalize } from '@countersign/crypto';
import { takenOver } from '@countersign/service-kit';
import { oscalResults } from '../../compliance/oscal-results.ts';
import { printPolicy, printReport } from '../../compliance/print-report.ts';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';
import { findReport } from '../../store/compliance-reports.ts';

const json = { 'content-type': 'application/json; charset=utf-8' };
const oscal = { 'content-type': 'application/oscal+json; charset=utf-8' };
const page = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': printPolicy };

export const getComplianceReportRoute = ({ database }: Pick<Context, 'database'>) =>
  handlePerson(getComplianceReport)(async ({ params, query, caller, res }): Promise<typeof takenOver> => {
    const { id: orgId } = await orgOfAdmin({ database }, caller, query.org_id);
    const id = ComplianceReportId.safeParse(params.report_id);
    const details = id.success ? await findReport(database.reader, orgId, id.data) : null;
    if (details === null)
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    return send(res, contentOf(details, query.format));
  });

type Content = { headers: Record<string, string>; text: string };

function contentOf(details: ComplianceReportDetails, format: ComplianceReportFormat): Content {
  switch (format) {
    case 'json':
      return { headers: json, text: canonicalize(details) };
    case 'print':
      return { headers: page, text: printReport(finished(details)) };
    case 'oscal':
      return { headers: oscal, text: canonicalize(oscalResults(finished(details))) };
  }
}

function finished({ report, state }: ComplianceReportDetails): ComplianceReport {
  if (report !== null) return report;
  throw new AppError('ILLEGAL_TRANSITION', `The report is ${state}. Read it with format=json until it is done`);
}

function send(res: ServerResponse, { headers, text }: Content): typeof takenOver {
  res.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(text), 'cache-control': 'no-store' });
  res.end(text);
  return takenOver;
}
