/** The verdicts and the faults of the kernel stub. */
export type StubVerdict = 'ALLOW' | 'DENY' | 'ESCALATE';
export type StubFault =
  | 'none'
  | 'hang'
  | 'unsigned'
  | 'foreign_key'
  | 'other_tenant'
  | 'other_session'
  | 'other_tool'
  | 'other_principal'
  | 'other_action'
  | 'other_decision'
  | 'other_keys'
  | 'outcome'
  | 'shadow'
  | 'old'
  | 'denial_as_allow'
  | 'no_tools'
  | 'replayed'
  | 'nonsense'
  | 'error_500';
