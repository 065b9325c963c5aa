import type {
  ComplianceFramework,
  ComplianceReport,
  ComplianceReportSummary,
} from '@countersign/contracts/commercial-gateway';
import type { Tone } from '../parts/mark.tsx';

export const frameworkWords: Readonly<Record<ComplianceFramework, string>> = {
  soc2: 'SOC 2',
  iso42001: 'ISO/IEC 42001',
  eu_ai_act: 'EU AI Act',
  owasp_agentic_2026: 'OWASP Agentic 2026',
  nist_ai_rmf: 'NIST AI RMF',
};

export const stateWords: Readonly<Record<ComplianceReportSummary['state'], { says: string; tone: Tone }>> = {
  queued: { says: 'Queued', tone: 'plain' },
  running: { says: 'Building', tone: 'live' },
  done: { says: 'Ready', tone: 'good' },
  failed: { says: 'Failed', tone: 'bad' },
};

export type Control = ComplianceReport['controls'][number];

export function isBuilt({ state }: Pick<ComplianceReportSummary, 'state'>): boolean {
  return state === 'done' || state === 'failed';
}
