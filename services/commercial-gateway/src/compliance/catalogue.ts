import type { ComplianceFramework } from '@countersign/contracts/commercial-gateway';
import type { Framework } from './frameworks/framework.ts';
import { euAiAct } from './frameworks/eu-ai-act.ts';
import { iso42001 } from './frameworks/iso-42001.ts';
import { nistAiRmf } from './frameworks/nist-ai-rmf.ts';
import { owaspAgentic2026 } from './frameworks/owasp-agentic-2026.ts';
import { soc2 } from './frameworks/soc2.ts';

/** Version of the controls and queries, which each report states. Increase it when you change one of them. */
export const catalogueVersion = 2;

export const catalogue: Readonly<Record<ComplianceFramework, Framework>> = {
  soc2,
  iso42001,
  eu_ai_act: euAiAct,
  owasp_agentic_2026: owaspAgentic2026,
  nist_ai_rmf: nistAiRmf,
};
