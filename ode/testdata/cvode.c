// Solves one reference problem with CVODE (SUNDIALS 6): backward differentiation formulas with Newton's method if it is
// stiff, otherwise Adams formulas with fixed-point iteration. Jacobians are difference quotients.
//
// Input:  name, 1 if stiff, limit of steps, relative tolerance, end, n, n initial values, n absolute tolerances
// Output: version, 1 if the end was reached, steps, evaluations with those for Jacobians, n values at the end
//
// Only right-hand sides are written again here; all numbers of internal/problems are input.
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <string.h>
#include <sundials/sundials_version.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

typedef struct {
	const char *name;
	void (*f)(double t, const double *y, double *d, int n, double parameter);
	double parameter;
	int groups; // evaluations for which its Jacobian counts, whatever CVODE takes for a dense one; 0: n
} problem;

static double slow(void) { return 3.3 * 2 * M_PI / 86400; }

static void mode(double t, const double *y, double *d, int n, double zeta) {
	d[0] = y[1], d[1] = 400 * (sin(slow() * t) - y[0]) - 40 * zeta * y[1], d[2] = (y[0] - y[2]) / 3600;
}

static void ring(double t, const double *y, double *d, int n, double rate) {
	for (int i = 0; i < n; i++) d[i] = rate * (y[(i + 1) % n] - y[i]);
	d[0] += slow() * sin(slow() * t);
}

static void upwind(double t, const double *y, double *d, int n, double rate) {
	for (int i = 0; i < n; i++) d[i] = rate * ((i ? y[i - 1] : sin(slow() * t)) - y[i]);
}

static void central(double t, const double *y, double *d, int n, double rate) {
	upwind(t, y, d, n, rate);
	for (int i = 0; i < n - 1; i++) d[i] = rate / 2 * ((i ? y[i - 1] : sin(slow() * t)) - y[i + 1]);
}

static void hires(double t, const double *y, double *d, int n, double _) {
	d[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007;
	d[1] = 1.71 * y[0] - 8.75 * y[1];
	d[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4];
	d[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3];
	d[4] = -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6];
	d[5] = -280 * y[5] * y[7] + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6];
	d[6] = 280 * y[5] * y[7] - 1.81 * y[6], d[7] = -d[6];
}

static void robertson(double t, const double *y, double *d, int n, double _) {
	d[0] = -0.04 * y[0] + 1e4 * y[1] * y[2], d[2] = 3e7 * y[1] * y[1], d[1] = -d[0] - d[2];
}

static void vanderpol(double t, const double *y, double *d, int n, double eps) {
	d[0] = y[1], d[1] = eps == 1 ? (1 - y[0] * y[0]) * y[1] - y[0] : ((1 - y[0] * y[0]) * y[1] - y[0]) / eps;
}

static void oregonator(double t, const double *y, double *d, int n, double _) {
	d[0] = 77.27 * (y[1] + y[0] * (1 - 8.375e-6 * y[0] - y[1]));
	d[1] = (y[2] - (1 + y[0]) * y[1]) / 77.27, d[2] = 0.161 * (y[0] - y[2]);
}

static void pleiades(double t, const double *y, double *d, int n, double _) {
	memcpy(d, y + 14, 14 * sizeof *d);
	memset(d + 14, 0, 14 * sizeof *d);
	for (int i = 0; i < 7; i++)
		for (int j = 0; j < 7; j++) {
			double dx = y[j] - y[i], dy = y[7 + j] - y[7 + i], r = pow(dx * dx + dy * dy, 1.5);
			if (i != j) d[14 + i] += (j + 1) * dx / r, d[21 + i] += (j + 1) * dy / r;
		}
}

static void arenstorf(double t, const double *y, double *d, int n, double mu) {
	double nu = 1 - mu, a = y[0] + mu, b = y[0] - nu;
	double r = pow(a * a + y[1] * y[1], 1.5), s = pow(b * b + y[1] * y[1], 1.5);
	d[0] = y[2], d[1] = y[3];
	d[2] = y[0] + 2 * y[3] - nu * a / r - mu * b / s, d[3] = y[1] - 2 * y[2] - nu * y[1] / r - mu * y[1] / s;
}

static void brusselator(double t, const double *y, double *d, int n, double _) {
	d[0] = 1 + y[0] * y[0] * y[1] - 4 * y[0], d[1] = 3 * y[0] - y[0] * y[0] * y[1];
}

static void cubic(double t, const double *y, double *d, int n, double _) { d[0] = -y[0] * y[0] * y[0] / 2; }

static void populations(double t, const double *y, double *d, int n, double _) {
	d[0] = 2 * (y[0] - y[0] * y[1]), d[1] = -(y[1] - y[0] * y[1]);
}

static void kepler(double t, const double *y, double *d, int n, double _) {
	double r = pow(y[0] * y[0] + y[1] * y[1], 1.5);
	d[0] = y[2], d[1] = y[3], d[2] = -y[0] / r, d[3] = -y[1] / r;
}

static const problem problems[] = {
	{"mode-0.001", mode, 0.001}, {"mode-0.005", mode, 0.005}, {"mode-0.02", mode, 0.02},
	{"mode-0.05", mode, 0.05}, {"mode-0.1", mode, 0.1}, {"mode-0.5", mode, 0.5},
	{"ring", ring, 1000, 4}, {"upwind", upwind, 1000, 4}, {"central", central, 1000, 4},
	{"hires", hires}, {"vanderpol-stiff", vanderpol, 1e-6}, {"oregonator", oregonator}, {"pleiades", pleiades},
	{"arenstorf", arenstorf, 0.012277471}, {"brusselator", brusselator}, {"detest-a2", cubic},
	{"detest-b1", populations}, {"detest-d1", kepler}, {"detest-d3", kepler}, {"detest-d5", kepler},
	{"robertson", robertson}, {"vanderpol", vanderpol, 1}, {NULL}};

static int derivatives(double t, N_Vector y, N_Vector d, void *p) {
	const problem *q = p;
	q->f(t, N_VGetArrayPointer(y), N_VGetArrayPointer(d), N_VGetLength(y), q->parameter);
	return 0;
}

int main(void) {
	char name[64], version[64];
	int stiff, n;
	long limit, steps, evaluations, jacobians = 0;
	double rtol, end, t;
	if (scanf("%63s %d %ld %lf %lf %d", name, &stiff, &limit, &rtol, &end, &n) != 6) return 2;
	const problem *p = problems;
	while (p->name && strcmp(p->name, name)) p++;
	if (!p->name) return fprintf(stderr, "unknown problem %s\n", name), 2;

	SUNContext context;
	if (SUNContext_Create(0, &context)) return 1;
	N_Vector y = N_VNew_Serial(n, context), atol = N_VNew_Serial(n, context);
	for (int i = 0; i < 2 * n; i++)
		if (scanf("%lf", N_VGetArrayPointer(i < n ? y : atol) + i % n) != 1) return 2;
	void *cvode = CVodeCreate(stiff ? CV_BDF : CV_ADAMS, context);
	if (CVodeInit(cvode, derivatives, 0, y) || CVodeSVtolerances(cvode, rtol, atol)) return 1;
	CVodeSetUserData(cvode, (void *)p);
	CVodeSetMaxNumSteps(cvode, limit);
	CVodeSetStopTime(cvode, end);
	if (!stiff) {
		CVodeSetNonlinearSolver(cvode, SUNNonlinSol_FixedPoint(y, 0, context));
	} else {
		SUNMatrix a = SUNDenseMatrix(n, n, context);
		CVodeSetLinearSolver(cvode, SUNLinSol_Dense(y, a, context), a);
	}
	CVodeSetErrFile(cvode, NULL);
	int flag = CVode(cvode, end, y, &t, CV_NORMAL);
	CVodeGetNumSteps(cvode, &steps);
	CVodeGetNumRhsEvals(cvode, &evaluations);
	if (stiff) CVodeGetNumJacEvals(cvode, &jacobians);
	SUNDIALSGetVersion(version, sizeof version);
	printf("%s %d %ld %ld", version, flag >= 0, steps, evaluations + jacobians * (p->groups ? p->groups : n));
	for (int i = 0; i < n; i++) printf(" %.17g", N_VGetArrayPointer(y)[i]);
	puts("");
	return 0;
}
