import { createHash } from 'node:crypto';
import type { ComplianceReport, ControlReport } from '@countersign/contracts/commercial-gateway';

const oscalVersion = '1.1.3';
/** Namespace of our properties, and of the UUIDs of our documents. */
const namespace = 'https://countersign.dev/ns/oscal';

type Property = { name: string; ns: string; value: string };
type Evidence = { description: string; props: Property[] };
type Observation = {
  uuid: string;
  title: string;
  description: string;
  props: Property[];
  methods: string[];
  collected: string;
  'relevant-evidence'?: Evidence[];
  remarks?: string;
};

type AssessmentResults = {
  uuid: string;
  metadata: { title: string; 'last-modified': string; version: string; 'oscal-version': string; remarks: string };
  'import-ap': { href: string; remarks: string };
  results: {
    uuid: string;
    title: string;
    description: string;
    start: string;
    end: string;
    props: Property[];
    'reviewed-controls': { 'control-selections': { 'include-controls': { 'control-id': string }[] }[] };
    observations: Observation[];
  }[];
  'back-matter': { resources: { uuid: string; title: string; description: string }[] };
};

/**
 * Returns the report as assessment results of OSCAL 1.1.3. It contains observations and no findings, because only an
 * assessor can state that a control is satisfied. UUIDs and times are derived from the report, so the same report gives
 * the same bytes.
 */
export function oscalResults(report: ComplianceReport): { 'assessment-results': AssessmentResults } {
  const uuidOf = (piece: string) => uuidFrom(`${report.report_hash}/${piece}`);
  const plan = uuidOf('plan');
  const results: AssessmentResults = {
    uuid: uuidOf('document'),
    metadata: {
      title: `Evidence for ${report.title}`,
      'last-modified': report.to,
      version: String(report.catalogue_version),
      'oscal-version': oscalVersion,
      remarks: `${report.disclaimer} last-modified is the end of the period.`,
    },
    'import-ap': {
      href: `#${plan}`,
      remarks: 'No assessment plan exists. The resource describes how evidence is selected.',
    },
    results: [
      {
        uuid: uuidOf('result'),
        title: `${report.org_id}, ${report.from} to ${report.to}`,
        description: report.disclaimer,
        ...{ start: report.from, end: report.to },
        props: [property('report-hash', report.report_hash), property('organisation', report.org_id)],
        'reviewed-controls': {
          'control-selections': [
            { 'include-controls': report.controls.map(({ control_id }) => ({ 'control-id': control_id })) },
          ],
        },
        observations: report.controls.map((control) => observationOf(report, control)),
      },
    ],
    'back-matter': {
      resources: [{ uuid: plan, title: 'Selection of evidence', description: report.citation_rule }],
    },
  };
  return { 'assessment-results': results };
}

function observationOf({ report_hash, to }: ComplianceReport, control: ControlReport): Observation {
  const cited = [...control.cited_receipts.map(receiptEvidence), ...control.cited_audit_entries.map(entryEvidence)];
  return {
    uuid: uuidFrom(`${report_hash}/control/${control.control_id}`),
    title: `${control.control_id} ${control.title}`,
    description: `Asks: ${control.asks} We add: ${control.adds}`,
    props: [
      property('control-id', control.control_id),
      property('evidence-status', control.status),
      property('receipts', String(control.receipts)),
      property('audit-entries', String(control.audit_entries)),
    ],
    methods: ['EXAMINE'],
    collected: to,
    // OSCAL allows no empty list and no empty remarks.
    ...(cited.length === 0 ? {} : { 'relevant-evidence': cited }),
    ...(control.gaps.length === 0 ? {} : { remarks: `Gaps: ${control.gaps.join(' ')}` }),
  };
}

function receiptEvidence({
  workspace_id,
  receipt_id,
  receipt_hash,
}: ControlReport['cited_receipts'][number]): Evidence {
  return {
    description: 'A signed receipt that verifies.',
    props: [
      property('workspace-id', workspace_id),
      property('receipt-id', receipt_id),
      property('receipt-hash', receipt_hash),
    ],
  };
}

function entryEvidence({ seq, hash, chain }: ControlReport['cited_audit_entries'][number]): Evidence {
  const place = [property('audit-seq', String(seq)), property('audit-hash', hash)];
  if (chain === undefined) return { description: 'An entry of the audit chain of the organisation.', props: place };
  return {
    description: 'An entry of the audit chain of a workspace.',
    props: [...place, property('service', chain.service), property('workspace-id', chain.workspace_id)],
  };
}

function property(name: string, value: string): Property {
  return { name, ns: namespace, value };
}

/** Returns a UUID of version 5 (RFC 9562), which OSCAL accepts. The namespace is hashed as text. */
function uuidFrom(name: string): string {
  const bytes = createHash('sha1').update(`${namespace}/${name}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
