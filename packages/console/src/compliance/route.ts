// The sheet loads with the page, and not with the console.
import '../commercial/commercial.css';

export { CompliancePage } from './compliance-page.tsx';
