/** The address without the name of the workspace, which is for this door alone; everything else as it came. */
export function forwardedUrl(url: string): string {
  const [path = '', ...rest] = url.split('?');
  if (rest.length === 0) return url;
  const query = rest.join('?').split('&');
  const kept = query.filter((member) => nameOf(member) !== 'workspaceId');
  return kept.length === 0 ? path : `${path}?${kept.join('&')}`;
}

function nameOf(member: string): string {
  const [name = ''] = member.split('=');
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name; // the other service refuses what is no encoding
  }
}
