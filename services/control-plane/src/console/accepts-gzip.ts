/** Whether an Accept-Encoding (RFC 9110 §12.5.3; attacker-controlled) takes gzip by name. */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .some((coding) => /^\s*gzip\s*(;\s*q=(1|0\.\d*[1-9])\d*\s*)?$/i.test(coding));
}
