#include "textflag.h"

// WITHIN compares four numbers at an offset; Y0 collects the results.
// The predicates are >= and <=, false where one is not a number.
#define WITHIN(offset, X, Y) \
	VMOVUPD offset(SI)(AX*8), X; \
	VCMPPD $0x1d, offset(DX)(AX*8), X, Y; \
	VCMPPD $0x12, offset(DI)(AX*8), X, X; \
	VANDPD X, Y, Y; \
	VANDPD Y, Y0, Y0

// func withinAVX2(x, low, high *float64, n int) bool
TEXT ·withinAVX2(SB), NOSPLIT, $0-33
	MOVQ x+0(FP), SI
	MOVQ low+8(FP), DX
	MOVQ high+16(FP), DI
	MOVQ n+24(FP), CX
	XORL AX, AX
	VXORPD Y0, Y0, Y0
	VCMPPD $0, Y0, Y0, Y0 // true
loop:
	WITHIN(0, Y1, Y2)
	WITHIN(32, Y3, Y4)
	ADDQ $8, AX
	CMPQ AX, CX
	JLT loop
	VMOVMSKPD Y0, AX
	CMPL AX, $15
	SETEQ ret+32(FP)
	VZEROUPPER
	RET
