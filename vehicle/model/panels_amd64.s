// AVX2 version of the loop in panels.each, four panels at a time: the same operations in the same order.

#include "go_asm.h"
#include "textflag.h"

#define QUAD(name, value) \
	DATA name<>+0(SB)/8, value; \
	DATA name<>+8(SB)/8, value; \
	DATA name<>+16(SB)/8, value; \
	DATA name<>+24(SB)/8, value; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

QUAD(one, $1.0)
QUAD(half, $0.5)
QUAD(third, $0x3fd5555555555555)
QUAD(quarter, $0.25)
QUAD(fifth, $0x3fc999999999999a)
QUAD(sixth, $0x3fc5555555555555)
QUAD(seventh, $0x3fc2492492492492)
QUAD(twentyfourth, $0x3fa5555555555555)
QUAD(hundredtwentieth, $0x3f81111111111111)
QUAD(hottest, $60.0)
QUAD(coldest, $-700.0)

// exp: 64/ln 2, the number that leaves an integer in the low bits, ln 2/64 in two parts.
QUAD(stepsPer, $0x40571547652b82fe)
QUAD(round, $0x4338000000000000)
QUAD(stepHigh, $0x3f862e42fefa0000)
QUAD(stepLow, $0x3d1cf79abc9e3b39)
QUAD(steps, $63)

// log: the mantissa, the bits of 1, the places of its table, 2^52 and 2^52 + 1023, ln 2.
QUAD(mantissa, $0x000fffffffffffff)
QUAD(unit, $0x3ff0000000000000)
QUAD(places, $127)
QUAD(large, $0x4330000000000000)
QUAD(bias, $0x43300000000003ff)
QUAD(ln2, $0x3fe62e42fefa39ef)

// The terms, four times each, on the stack.
#define TERM(offset) (offset*4)(SP)

// EXP replaces X by its exponential, see exp. It uses Y5, Y11 to Y14, R14 and R15. Four loads are faster than a gather.
#define EXP(X) \
	VMULPD stepsPer<>(SB), X, Y5; \
	VADDPD round<>(SB), Y5, Y5; \
	VSUBPD round<>(SB), Y5, Y11; \
	VMULPD stepHigh<>(SB), Y11, Y12; \
	VSUBPD Y12, X, X; \
	VMULPD stepLow<>(SB), Y11, Y12; \
	VSUBPD Y12, X, X; \
	VMULPD X, X, Y11; \
	VMULPD hundredtwentieth<>(SB), X, Y12; \
	VADDPD twentyfourth<>(SB), Y12, Y12; \
	VMULPD Y11, Y12, Y12; \
	VMULPD sixth<>(SB), X, Y13; \
	VADDPD half<>(SB), Y13, Y13; \
	VADDPD Y12, Y13, Y13; \
	VMULPD Y11, Y13, Y13; \
	VADDPD Y13, X, X; \
	VPAND steps<>(SB), Y5, Y11; \
	VPSRLQ $6, Y5, Y12; \
	VPSLLQ $52, Y12, Y12; \
	VMOVQ X11, R14; \
	VPEXTRQ $1, X11, R15; \
	VMOVSD (CX)(R14*8), X14; \
	VMOVHPD (CX)(R15*8), X14, X14; \
	VEXTRACTI128 $1, Y11, X11; \
	VMOVQ X11, R14; \
	VPEXTRQ $1, X11, R15; \
	VMOVSD (CX)(R14*8), X13; \
	VMOVHPD (CX)(R15*8), X13, X13; \
	VINSERTF128 $1, X13, Y14, Y14; \
	VPADDQ Y12, Y14, Y14; \
	VMULPD X, Y14, X; \
	VADDPD Y14, X, X

// func eachAVX2(c *panelTerms, normals *[3][panelCount]float64, temperature, voltage, dTemperature, dVoltage, power,
//	received *[panelCount]float64)
TEXT ·eachAVX2(SB), 0, $896-64
	MOVQ c+0(FP), SI
	MOVQ normals+8(FP), DI
	MOVQ temperature+16(FP), R8
	MOVQ voltage+24(FP), R9
	MOVQ dTemperature+32(FP), R10
	MOVQ dVoltage+40(FP), R11
	MOVQ power+48(FP), R12
	MOVQ received+56(FP), R13
	LEAQ ·expTable(SB), CX
	LEAQ ·logTable(SB), BX

	XORQ AX, AX
	MOVQ SP, DX
spread:
	VBROADCASTSD (SI)(AX*1), Y0
	VMOVUPD Y0, (DX)
	ADDQ $8, AX
	ADDQ $32, DX
	CMPQ AX, $panelTerms__size
	JLT spread

	XORQ AX, AX
loop:
	// The cosine of the angle of incidence, and where it is positive.
	VMOVUPD (DI)(AX*1), Y0
	VMULPD TERM(panelTerms_sunX), Y0, Y0
	VMOVUPD (const_panelCount*8)(DI)(AX*1), Y1
	VMULPD TERM(panelTerms_sunY), Y1, Y1
	VADDPD Y1, Y0, Y0
	VMOVUPD (const_panelCount*16)(DI)(AX*1), Y1
	VMULPD TERM(panelTerms_sunZ), Y1, Y1
	VADDPD Y1, Y0, Y0
	VXORPD Y1, Y1, Y1
	VCMPPD $0x1e, Y1, Y0, Y2

	// Y3 is the irradiance received, Y4 what reaches the cells.
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VMOVMSKPD Y2, DX
	TESTL DX, DX
	JEQ shade
	VMULPD TERM(panelTerms_direct), Y0, Y3
	VANDPD Y2, Y3, Y3
	VDIVPD TERM(panelTerms_minusReflectance), Y0, Y4
	EXP(Y4)
	VMOVUPD one<>(SB), Y5
	VSUBPD Y4, Y5, Y4
	VMULPD TERM(panelTerms_modifierScale), Y4, Y4
	VMULPD Y4, Y3, Y4
	VANDPD Y2, Y4, Y4
shade:
	VADDPD TERM(panelTerms_diffuse), Y3, Y3
	VMOVUPD Y3, (R13)(AX*1)
	VADDPD TERM(panelTerms_softened), Y4, Y4
	VMULPD TERM(panelTerms_encapsulation), Y4, Y4

	// Y5 is the logarithm of 1 + Y4, see log; zero in the dark.
	VXORPD Y5, Y5, Y5
	VCMPPD $0x11, TERM(panelTerms_darkness), Y4, Y15
	VMOVMSKPD Y15, DX
	CMPL DX, $15
	JEQ open
	VADDPD one<>(SB), Y4, Y5
	VPSRLQ $52, Y5, Y6
	VPSRLQ $45, Y5, Y7
	VPAND places<>(SB), Y7, Y7
	VPADDQ Y7, Y7, Y7
	VPAND mantissa<>(SB), Y5, Y5
	VPOR unit<>(SB), Y5, Y5
	VMOVQ X7, R14
	VPEXTRQ $1, X7, R15
	VMOVUPD (BX)(R14*8), X8
	VMOVUPD (BX)(R15*8), X9
	VEXTRACTI128 $1, Y7, X7
	VMOVQ X7, R14
	VPEXTRQ $1, X7, R15
	VINSERTF128 $1, (BX)(R14*8), Y8, Y8
	VINSERTF128 $1, (BX)(R15*8), Y9, Y9
	VUNPCKHPD Y9, Y8, Y10
	VUNPCKLPD Y9, Y8, Y9
	VMULPD Y9, Y5, Y5
	VSUBPD one<>(SB), Y5, Y5
	VMULPD Y5, Y5, Y7
	VMULPD third<>(SB), Y5, Y8
	VMOVUPD half<>(SB), Y9
	VSUBPD Y8, Y9, Y8
	VMULPD fifth<>(SB), Y5, Y9
	VMOVUPD quarter<>(SB), Y11
	VSUBPD Y9, Y11, Y9
	VMULPD seventh<>(SB), Y5, Y11
	VMOVUPD sixth<>(SB), Y12
	VSUBPD Y11, Y12, Y11
	VMULPD Y7, Y11, Y11
	VADDPD Y11, Y9, Y9
	VMULPD Y7, Y9, Y9
	VADDPD Y9, Y8, Y8
	VMULPD Y7, Y8, Y8
	VSUBPD Y8, Y5, Y5
	VADDPD Y10, Y5, Y5
	VPOR large<>(SB), Y6, Y6
	VSUBPD bias<>(SB), Y6, Y6
	VMULPD ln2<>(SB), Y6, Y6
	VADDPD Y5, Y6, Y5

open:
	// Y6 is the temperature, Y7 its excess, Y8 the open circuit voltage.
	VMOVUPD (R8)(AX*1), Y6
	VSUBPD TERM(panelTerms_reference), Y6, Y7
	VMULPD TERM(panelTerms_openSlope), Y7, Y8
	VADDPD TERM(panelTerms_openReference), Y8, Y8
	VMULPD TERM(panelTerms_openLogarithm), Y5, Y5
	VADDPD Y5, Y8, Y8
	VMOVUPD TERM(panelTerms_lowest), Y9
	VMAXPD Y8, Y9, Y8

	// Y9 is the voltage.
	VMOVUPD (R9)(AX*1), Y9
	VMULPD TERM(panelTerms_mppFraction), Y8, Y10
	VSUBPD Y9, Y10, Y10
	VMULPD TERM(panelTerms_tracking), Y10, Y10
	VMOVUPD Y10, (R11)(AX*1)

	// Y10 is the current, then the power.
	VMULPD TERM(panelTerms_currentSlope), Y7, Y7
	VADDPD one<>(SB), Y7, Y7
	VMULPD TERM(panelTerms_currentPerIrradiance), Y4, Y10
	VMULPD Y7, Y10, Y7
	VCMPPD $0x11, Y8, Y9, Y10
	VANDPD Y10, Y7, Y1
	VMOVAPD Y1, Y10
	CMPL DX, $15
	JEQ power
	VMULPD TERM(panelTerms_diode2), Y8, Y10
	VDIVPD Y10, Y9, Y10
	VMINPD hottest<>(SB), Y10, Y10
	VMAXPD coldest<>(SB), Y10, Y10
	EXP(Y10)
	VSUBPD one<>(SB), Y10, Y10
	VMULPD TERM(panelTerms_diode1), Y10, Y10
	VMOVUPD one<>(SB), Y11
	VSUBPD Y10, Y11, Y10
	VXORPD Y11, Y11, Y11
	VMAXPD Y10, Y11, Y10
	VMULPD Y10, Y7, Y10
	VBLENDVPD Y15, Y1, Y10, Y10
power:
	VMULPD Y9, Y10, Y10
	VMOVUPD Y10, (R12)(AX*1)

	// Y3 is the heat.
	VMULPD TERM(panelTerms_absorptance), Y3, Y3
	VMULPD TERM(panelTerms_powerPerArea), Y10, Y10
	VSUBPD Y10, Y3, Y3
	VSUBPD TERM(panelTerms_ambient), Y6, Y7
	VMULPD TERM(panelTerms_convection), Y7, Y7
	VSUBPD Y7, Y3, Y3
	VMULPD Y6, Y6, Y6
	VMULPD Y6, Y6, Y6
	VSUBPD TERM(panelTerms_ambient4), Y6, Y6
	VMULPD TERM(panelTerms_radiated), Y6, Y6
	VSUBPD Y6, Y3, Y3
	VMULPD TERM(panelTerms_capacity), Y3, Y3
	VMOVUPD Y3, (R10)(AX*1)

	// The last four panels overlap with those before.
	ADDQ $32, AX
	CMPQ AX, $(const_panelCount*8)
	JEQ done
	CMPQ AX, $(const_panelCount*8-32)
	JLE loop
	MOVQ $(const_panelCount*8-32), AX
	JMP loop
done:
	VZEROUPPER
	RET
